"""Follows changes upstream of a flow: sees them, and decides what they mean; carrying it out is the runtime's."""
