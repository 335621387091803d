"""As in "less than 500 m from campus": the one number of the catalog that says how far something is from there."""

from dataclasses import replace

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.numbers import read_quantity
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import Token, stem, stems

_COMPARED = frozenset(
    "less more closer nearer further farther than at most least no not under over within below above up to".split()
)
_SAID = {"within": ("at", "most"), "closer": ("less",), "nearer": ("less",), "further": ("more",), "farther": ("more",)}
_FROM = frozenset({"from", "to", "of", "away", "off"})
_ARTICLES = frozenset({"the", "our", "a"})
_LINKS = frozenset({"that", "which", "who", "are", "is", "were", "was", "lie", "lies", "situated", "located"})


def with_distances(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "with metres to campus less than 500 m" for "less than 500 m from campus"."""
    for at in range(2, len(tokens) - 2):
        quantity = read_quantity(tokens, at)
        if quantity is None or quantity.unit is None or quantity.unit.measures != "length":
            continue
        end = at + quantity.length
        there = end
        while there < len(tokens) and tokens[there].word in _FROM | _ARTICLES:
            there += 1
        first = at
        while first and tokens[first - 1].word in _COMPARED:
            first -= 1
        if there == end or there >= len(tokens) or first == at or tokens[first].word in {"to", "than"}:
            continue
        name = _column(tokens[there], lexicon)
        if not name:
            continue
        said = " ".join(token.text for token in tokens[end : there + 1])
        draft.assumptions.append(f"'{said}' is {name}")
        begin = first
        while begin > 1 and tokens[begin - 1].word in _LINKS:
            begin -= 1
        return (*tokens[:begin], *_compared(tokens[first:at], name), *tokens[at:end], *tokens[there + 1 :])
    return tokens


def _compared(said: tuple[Token, ...], name: str) -> list[Token]:
    """The column, and the words that compare it as the grammar reads them."""
    old = said[0]
    put = [replace(old, text="with", word="with", stem="with"), replace(old, word=name, stem=name, kind="name")]
    for token in said:
        words = _SAID.get(token.word, (token.word,))
        put += [replace(token, text=word, word=word, stem=stem(word)) for word in words]
    return put


def _column(there: Token, lexicon: Lexicon) -> str:
    """The full name of the one length of the catalog that has a word in its name; empty: none, or several have it."""
    if there.kind != "word":
        return ""
    found = [f"{table.name}.{column.name}" for table in lexicon.catalog.tables.values() for column in table.columns
             if _is_length(column) and there.stem in _words(column)]  # fmt: skip
    return found[0] if len(found) == 1 else ""


def _is_length(column: CatalogColumn) -> bool:
    unit = unit_of_column(column)
    return is_number(column) and unit is not None and unit.measures == "length"


def _words(column: CatalogColumn) -> set[str]:
    """The stems of the words behind "to" and "from" in the names of a column."""
    found: set[str] = set()
    for text in (column.name.replace("_", " "), *column.synonyms):
        parts = text.lower().split()
        for at, part in enumerate(parts):
            if part in {"to", "from"}:
                found |= {one for behind in parts[at + 1 :] for one in stems(behind)}
    return found
