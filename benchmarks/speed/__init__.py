"""Measures the speed of parts of the package, beside other packages."""
