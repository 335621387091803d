"""The name of a segment among those of all flows: notes beside tables, and marks of copies, say by it who wrote."""


def segment_writer(flow: str, segment: str) -> str:
    """The name of a segment of a flow."""
    return f"{flow}/{segment}"


def flow_and_segment(writer: str) -> tuple[str, str]:
    """Flow and segment that a name of `segment_writer` says.

    Example:
        >>> flow_and_segment("orders/main")
        ('orders', 'main')
    """
    flow, _, segment = writer.partition("/")
    return flow, segment
