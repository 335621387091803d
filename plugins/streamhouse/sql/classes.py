"""Whether nodes are of some classes, at the cost of a look into a dict."""


class Kinds(dict[type, bool]):
    """Class of a node → whether it is one of some classes, or derived from one; found out once for each.

    `isinstance` takes several times as long where sqlglot's classes have traits, and every analysis asks it of
    every node.

    Example:
        >>> Kinds(int, str)[bool]
        True
    """

    def __init__(self, *classes: type) -> None:
        super().__init__()
        self._classes = classes

    def __missing__(self, kind: type) -> bool:
        found = self[kind] = issubclass(kind, self._classes)
        return found
