"""The same wish in other words: where its answer is another one then, the wish is asked back.

It is the check behind all others: it compares two readings, and knows nothing of the rules that made them.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from streamhouse.planner.catalog import Catalog
from streamhouse.planner.language.words import MONTHS
from streamhouse.planner.request import Question, Request, Understood
from streamhouse.planner.sentence import sentence

Read = Callable[[str], Understood]

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_ENDS = r"(?! (?:to|until|till|on|onwards?|through|up|and)\b)(?! 20\d\d (?:to|until|on)\b)"  # as in "from May to July"
_PERIOD = rf"(?:{_MONTH}|20\d\d|q[1-4])\b{_ENDS}"
_TURNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(said, re.IGNORECASE), other)
    for said, other in (
        (r"\bbut(?= (?:not|never|is|are|was|were|has|have)\b)", "and"),
        (rf"\bfrom(?= {_PERIOD})", "in"),
        (r"\bwith no\b", "without"),
        (r"\bfor (?:each|every)\b", "per"),
        (r"^what did(?= we\b)", "how much did"),
        (r"^how many(?= [a-z]+s (?:per|by|in)\b)", "number of"),
    )
)
"""What can be said otherwise wherever it stands, and how; never back, so that an answer in those words is final."""


def other_words(wish: str, found: Request, catalog: Catalog, read: Read) -> Question | None:
    """The question which of two readings is meant, for a wish that is read otherwise in other words; None: it is not.

    Args:
        wish: As a person wrote it.
        found: How it was read.
        catalog: That it was read over.
        read: Reads another wish over the same catalog.
    """
    for start, end, other in _turned(wish):
        request = read(wish[:start] + other + wish[end:]).request
        if request is not None and _rows(request, catalog) != _rows(found, catalog):
            said = wish[start:end]
            text = f"'{said}' is read as '{sentence(found)}', and '{other}' as '{sentence(request)}': which one?"
            return Question(text=text, phrase=said, choices=(other,))
    return None


def _turned(wish: str) -> Iterator[tuple[int, int, str]]:
    """Each phrase that can be said otherwise: its begin, its end, and the other words."""
    for said, other in _TURNS:
        match = said.search(wish)
        if match is not None:
            yield *match.span(), other


def _rows(request: Request, catalog: Catalog) -> Any:
    """What decides the rows of an answer, whatever its columns are called and in which order its conditions are."""
    ranking = request.ranking.model_dump(mode="json") if request.ranking is not None else None
    parts = _Parts(catalog)
    return parts.plain([request.block.model_dump(mode="json"), ranking], ""), sorted(parts.there)


@dataclass
class _Parts:
    """The parts of a Request without what only says the same otherwise.

    Attributes:
        names: Name of a column of the result → its place among them.
        there: Columns that a row has a value in, as a condition, a count, a period or a group of periods says it.
    """

    catalog: Catalog
    names: dict[str, str] = field(default_factory=dict)
    there: set[str] = field(default_factory=set)

    def plain(self, part: Any, base: str) -> Any:
        """One part, over the rows of a table."""
        if isinstance(part, list | tuple):
            return sorted((self.plain(one, base) for one in part if not self._is_there(one)), key=repr)
        if not isinstance(part, dict):
            return self.names.get(part, part) if isinstance(part, str) else part
        base = part.get("base") or base
        if isinstance(part.get("name"), str):
            self.names.setdefault(part["name"], f"#{len(self.names)}")
        if part.get("kind") in {"cut", "during"}:
            self.there.add(repr(part["of"]))
        if "function" in part and part["by"] is None and part["fraction"] is None:
            return self._folded(part, base), self.plain(part["where"], base), self.names[part["name"]]
        return {key: self.plain(value, base) for key, value in part.items() if key not in {"parameter", "unit"}}

    def _is_there(self, part: Any) -> bool:
        said = isinstance(part, dict) and part.get("operator") == "is not null"
        if said:
            self.there.add(repr(part["left"]))
        return said

    def _folded(self, measure: dict[str, Any], base: str) -> str:
        """A measure as SQL, if it is over a column of the base or counts rows; else all that it has."""
        known = self.catalog.tables[base].measures if base in self.catalog.tables else {}
        function, of = measure["function"], measure["of"]
        if measure["named"] in known:
            return re.sub(r"\s", "", known[measure["named"]].sql).upper()
        if function == "count" and of is not None:
            self.there.add(repr(of))
        if function == "count":
            return "COUNT(*)"
        own = of is not None and of.get("kind") == "column" and not of.get("role")
        return f"{function}({of['column'] if own else of})".upper()
