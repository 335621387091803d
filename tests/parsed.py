"""Modules as syntax trees, each parsed and walked once for all the tests of a process that read the source.

Nothing may be changed in a tree: the next test gets the same one.
"""

import ast
import gc
from functools import cache


@cache
def tree_of(text: str) -> ast.Module:
    """The tree of a module's text."""
    collects = gc.isenabled()
    gc.disable()  # a tree is no garbage, and to look for some in it takes longer than to make it
    try:
        return ast.parse(text)
    finally:
        if collects:
            gc.enable()


@cache
def nodes_of(text: str) -> tuple[ast.AST, ...]:
    """Every node of a module, in the order of `ast.walk`."""
    return tuple(ast.walk(tree_of(text)))
