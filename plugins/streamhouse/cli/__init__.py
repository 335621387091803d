"""The `streamhouse` command: look up, compute, show."""
