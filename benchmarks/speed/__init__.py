"""How fast single parts of the package are, beside other packages."""
