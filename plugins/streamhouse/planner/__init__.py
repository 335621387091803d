"""The Flow Planner: a wish in plain words becomes a typed Request, and that a Proposal of files to review."""
