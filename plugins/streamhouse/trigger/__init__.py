"""The loop of the Flow Trigger: looks, decides what each flow is to become, asks a person, notes what happened."""
