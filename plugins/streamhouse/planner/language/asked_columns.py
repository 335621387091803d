"""Columns that a question behind the things asks for: "when it was placed", "how it was paid", "which channel"."""

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.language.scope import TIMES, default_time
from streamhouse.planner.language.tokens import Token, stem, stems

_SUBJECTS = frozenset({"it", "he", "she", "they", "we", "was", "were", "is", "are", "has", "have", "been", "had", "i",
                       "got", "did", "does", "do", "the"})  # fmt: skip
WHEN_OR_HOW = frozenset({"when", "whether", "how", "where", "why"})
"""Words with which a question begins that a column of the things may answer."""

_BEFORE_WHICH = frozenset({"over", "by", "on", "in", "at", "from", "through", "via", "for", "to", "with", "of"})
_PICKS = frozenset({"first", "last", "latest", "earliest", "newest", "oldest"})
_EACH = frozenset({"each", "every", "per"})


def picks_rows(tokens: tuple[Token, ...]) -> bool:
    """Whether a wish asks for the first or last row of each thing, so that the time of the rows is meant by "date"."""
    words = {token.word for token in tokens}
    return bool(words & _PICKS and words & _EACH)


def name_asked(tokens: tuple[Token, ...], at: int) -> int:
    """Where the name behind "which" or "over which" begins; the same token, where neither stands there."""
    start = at + (at + 1 < len(tokens) and tokens[at].word in _BEFORE_WHICH)
    asked = start + 1 < len(tokens) and tokens[start].word in {"which", "what"}
    return start + 1 if asked else at


def asks_column(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a question begins at a token that a column of the things answers."""
    return at < len(tokens) and (tokens[at].word in WHEN_OR_HOW or name_asked(tokens, at) > at)


def column_asked(tokens: tuple[Token, ...], at: int, table: CatalogTable) -> tuple[CatalogColumn | None, int]:
    """The only column of a table that answers "when …" or "how …", and where the question ends; None: none does.

    "When" alone asks for the time of the rows, where the wish picks rows by it. "How", "where" and "why" ask for what a
    description says so: "how it was paid".
    """
    word = tokens[at].word
    if word not in WHEN_OR_HOW:
        return None, at
    end = at + 1
    while end < len(tokens) and tokens[end].word in _SUBJECTS:
        end += 1
    if word not in {"when", "whether"}:
        answers = columns_that_say(word, tokens[end].stem, table) if at + 1 < end < len(tokens) else []
        return (answers[0] if len(answers) == 1 else None), end + 1
    if word == "when" and (end >= len(tokens) or tokens[end].word in {",", "and"}):
        return (default_time(table) if picks_rows(tokens) else None), end
    if end >= len(tokens):
        return None, at
    wanted = TIMES if word == "when" else frozenset({"boolean"})
    verb = stem(tokens[end].word)
    found = [one for one in table.columns if one.type in wanted]
    named = [one for one in found if verb in stems(one.name)]
    named = named or [one for one in found if any(verb in stems(text) for text in one.synonyms)]
    return (named[0] if len(named) == 1 else None), end + 1


def columns_that_say(word: str, verb: str, table: CatalogTable) -> list[CatalogColumn]:
    """The columns of a table whose description says how, where or why something was done: "how it was paid".

    Args:
        word: "how", "where" or "why".
        verb: The stem of what was done.
        table: Only its columns are looked at.
    """
    found = []
    for one in table.columns:
        said = one.description.lower().partition(";")[0].split()
        if said[:1] == [word] and said[1:2] and said[1] in _SUBJECTS and verb in stems(" ".join(said[1:])):
            found.append(one)
    return found
