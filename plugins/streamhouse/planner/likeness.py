"""A quick look at SQL that tells queries apart which cannot mean the same, so that few need a canonical form.

What it keeps is compared by canonical forms afterwards; what it leaves out may, rarely, have meant the same.
"""

import re
from dataclasses import dataclass

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_FILTER = re.compile(r"filter\s*\(\s*where")
_QUALIFIER = re.compile(r"\b[a-z_][a-z0-9_]*\.(?=[a-z_])")
_WORD = re.compile(r"[a-z_][a-z0-9_]*|\d+(?:\.\d+)?|'(?:[^'\\]|\\.)*'")
_LITERAL = re.compile(r"\d.*|'.*", re.DOTALL)


@dataclass(frozen=True)
class Likeness:
    """What two queries of one meaning have in common, as far as a text shows it.

    Attributes:
        simple: One SELECT without CTEs and sub-queries; of others nothing is said.
        filters: Whether it has a WHERE.
        groups: Words of its GROUP BY; empty: it has none.
    """

    simple: bool
    filters: bool
    groups: frozenset[str]

    @classmethod
    def of(cls, sql: str) -> "Likeness":
        """Of a text in Spark SQL."""
        text = _QUALIFIER.sub("", _FILTER.sub("filter(", _COMMENT.sub(" ", sql).lower()))
        found = _WORD.findall(text)
        _, grouped, behind = text.partition("group by")
        groups = frozenset(_WORD.findall(behind.partition(" having ")[0])) if grouped else frozenset()
        return cls(found.count("select") == 1 and "with" not in found, "where" in found, groups)

    def may_mean(self, other: "Likeness") -> bool:
        """Whether this query may give what another one gives; this one may have further columns."""
        if not (self.simple and other.simple):
            return True
        if self.filters != other.filters or bool(self.groups) != bool(other.groups):
            return False
        names = {word for word in other.groups if not _LITERAL.fullmatch(word)}
        return names <= self.groups
