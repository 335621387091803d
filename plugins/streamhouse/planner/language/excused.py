"""Whether a description says a word of all rows, so that the word changes nothing where it was not read."""

import re

from streamhouse.planner.catalog import Catalog
from streamhouse.planner.language.lexicon import Sense
from streamhouse.planner.language.tokens import stem

_SOME = re.compile(r"\b(?:also|including|even|some|sometimes|except|without|empty|null|unless|if|or)\b|;")
_CONDITIONS = frozenset(
    {"with", "without", "having", "that", "which", "who", "whose", "no", "not", "have", "has", "had"}
)
_BETWEEN = frozenset({"a", "an", "the", "any", "was", "were", "are", "is", "been", "got", "get", "gets", "one"})


def said_of_all(phrase: str, sense: Sense, catalog: Catalog) -> bool:
    """Whether a word of a description is said of all rows, and not of some: "also those that ended with a return"."""
    table = catalog.tables[sense.table]
    text = table.description if sense.kind == "table" else table.column(sense.column).description
    plain = _SOME.split(text.lower(), maxsplit=1)[0]
    return stem(phrase) in {stem(word) for word in re.findall(r"[a-z]+", plain)}


def restricts_rows(phrase: str, words: list[str]) -> bool:
    """Whether a word that was not read stands where a condition stands: "adoptions with a return"."""
    if phrase.lower() not in words:
        return False
    at = words.index(phrase.lower()) - 1
    while at >= 0 and words[at] in _BETWEEN:
        at -= 1
    return at >= 0 and words[at] in _CONDITIONS
