"""Filling the tiers a flow does not write, reading all of them as one table, and restating rows of the past."""
