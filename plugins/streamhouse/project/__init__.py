"""A project on disk: its settings, its files checked and compiled, and how they compare with what is applied."""
