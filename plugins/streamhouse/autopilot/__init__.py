"""The autopilot: finds faults of running flows, proposes edits with evidence, applies and measures what it may."""
