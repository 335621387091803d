"""What was applied, who runs it and how far it came: shared by every process of a project."""
