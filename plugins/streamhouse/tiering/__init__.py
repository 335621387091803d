"""Filling the tiers a flow does not write, and reading all of them under one name."""
