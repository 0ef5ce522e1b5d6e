"""Scripts that make data files and parts of the docs."""
