"""Captures: what happens in a database, written into a journal that flows read (docs/decisions/capture.md)."""
