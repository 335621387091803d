"""Epochs: what drives them, how a step turns changes into changes, and how a runner survives."""
