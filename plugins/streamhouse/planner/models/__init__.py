"""Ask a language model where the offline planner is at a loss; whatever it answers passes the same checks."""
