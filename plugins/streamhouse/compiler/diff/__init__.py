"""What a change of definitions does to a running flow; pure."""

from streamhouse.compiler.diff.flow import diff
from streamhouse.compiler.diff.settings import replaced

__all__ = ["diff", "replaced"]
