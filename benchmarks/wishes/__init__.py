"""Wishes in plain words over five small projects, and how the Flow Planner's answers to them are judged."""
