"""What a change of definitions does to a running flow; pure."""

from streamhouse.compiler.diff.flow import diff

__all__ = ["diff"]
