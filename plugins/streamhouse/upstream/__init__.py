"""Facts about what flows read: what changed in it, which steps that reaches, and what a policy makes of each."""
