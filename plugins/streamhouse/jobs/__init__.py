"""The jobs that the command line starts, each from its files to its summary."""
