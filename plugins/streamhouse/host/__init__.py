"""The runner: one process with one Spark that executes the flows wanted of it, and what others ask of it."""
