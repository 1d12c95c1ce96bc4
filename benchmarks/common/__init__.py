"""What all benchmarks measure, read and print with."""
