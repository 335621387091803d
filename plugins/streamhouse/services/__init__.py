"""The services that this machine runs for a project: Fluss and what it needs."""
