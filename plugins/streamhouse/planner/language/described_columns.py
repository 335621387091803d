"""As in "with first name and birthday": a column that only its description calls so: "birthday of the child"."""

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.language.tokens import Token, tokenize
from streamhouse.planner.language.words import ARTICLES

_LINKS = frozenset({"of", "in", "on", "at", "for", "with", "from"})
_PLAIN = frozenset(
    """number name price count amount total sum part kind type sort time date year month week hour first last code list
    value""".split()
)  # a description that begins so does not say which of them
_ENDS = frozenset({",", "and", "&", "plus", ".", "?", "!", ";"})
_SHORTEST = 5
_LONGEST = 8


def column_described(tokens: tuple[Token, ...], at: int, table: CatalogTable) -> tuple[CatalogColumn | None, int]:
    """The only column of a table whose description begins with the words of an item of a list, and where it ends.

    Args:
        tokens: Of a wish that lists columns.
        at: Where the item begins.
        table: The things whose columns are listed.

    Returns:
        No column where none is described so, or several are, or the words say less than which column is meant: one word
        has to be the noun that a description begins with, as in "birthday of the child".
    """
    end = at
    while end < len(tokens) and tokens[end].word not in _ENDS and end - at < _LONGEST:
        end += 1
    said = [token.stem for token in tokens[at:end] if token.word not in ARTICLES]
    if not said or not all(token.kind == "word" for token in tokens[at:end]):
        return None, at
    found = [one for one in table.columns if _begins(one, said)]
    return (found[0], end) if len(found) == 1 else (None, at)


def _begins(column: CatalogColumn, said: list[str]) -> bool:
    """Whether a description begins with words, and goes on with a link or not at all."""
    described = tokenize(column.description.partition(";")[0])
    words = [one for one in described if one.word not in ARTICLES]
    if [one.stem for one in words[: len(said)]] != said:
        return False
    if len(said) == 1 and (words[0].word in _PLAIN or len(words[0].word) < _SHORTEST):
        return False
    behind = words[len(said)].word if len(said) < len(words) else ""
    return not behind or behind in _LINKS
