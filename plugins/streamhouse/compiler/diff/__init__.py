"""What a change of definitions does to a running flow; pure."""

from streamhouse.compiler.diff.flow import diff
from streamhouse.compiler.diff.settings import read_again, replaced

__all__ = ["diff", "read_again", "replaced"]
