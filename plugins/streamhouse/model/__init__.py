"""What a flow is made of: frozen, checked on construction, no I/O."""
