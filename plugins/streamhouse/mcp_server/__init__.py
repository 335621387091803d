"""The MCP server: a few read-only tools, and proposals that a person approves elsewhere."""
