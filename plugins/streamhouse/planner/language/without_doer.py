"""As in "tours that no one leads": rows without a value in the one column that says who does, and may be empty."""

import re
from dataclasses import replace

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.empty_columns import may_be_empty, when_empty
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.mentions import tables_named
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import Token, stems

NO_ONE = "nobody"  # as people type it
_OPENERS = frozenset({"that", "which", "who", "for", "on", "to"})
_DOING = frozenset({"is", "are", "was", "were", "has", "have", "had", "been", "ever", "did", "does"})
_BEHIND = frozenset({"for", "on", "at", "to", "with", "in", "yet", "ever", "so", "far", "it", "them"})


def without_doer(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "tours without guide" for "tours that no one leads", where one column says who leads them."""
    for at in range(1, len(tokens) - 1):
        if tokens[at].word != NO_ONE:
            continue
        first, verb = at, at + 1
        while first > 1 and tokens[first - 1].word in _OPENERS:
            first -= 1
        while verb < len(tokens) - 1 and tokens[verb].word in _DOING:
            verb += 1
        end = verb + 1
        while end < len(tokens) and tokens[end].word in _BEHIND:
            end += 1
        name = _column(tokens, first, verb, lexicon)
        if not name or (end < len(tokens) and tokens[end].kind != "symbol" and tokens[end].word not in _GROUPING):
            return tokens
        said = " ".join(token.text for token in tokens[at:end])
        draft.assumptions.append(f"'{said}' means that {name} is empty")
        without = replace(tokens[at], text="without", word="without", stem="without")
        named = replace(tokens[verb], word=name, stem=name, kind="name")
        return (*tokens[:first], without, named, *tokens[end:])
    return tokens


_OTHERS = re.compile(r"\b(?:did|does|anonymous|known|differs?|lost|missed|noted|recorded)\b")
_GROUPING = frozenset({"per", "by"})


def _column(tokens: tuple[Token, ...], end: int, verb: int, lexicon: Lexicon) -> str:
    """The full name of the one column of the rows before a place that has a verb in its names or its description."""
    tables = _tables(tokens, range(end - 1, end), lexicon)
    if not tables and tokens[end].word in {"that", "which"}:
        tables = _tables(tokens, range(end), lexicon)  # "lots above 500 kg that no one bought"
    if len(tables) != 1 or tokens[verb].kind != "word":
        return ""
    table = lexicon.catalog.tables[tables.pop()]
    names = [one.name for one in table.columns if _says_none(one) and tokens[verb].stem in _stems(one)]
    return f"{table.name}.{names[0]}" if len(names) == 1 else ""


def _tables(tokens: tuple[Token, ...], places: range, lexicon: Lexicon) -> set[str]:
    """The tables that words at some places are the whole name of."""
    return tables_named(filter(None, (lexicon.mention(tokens, at, 1) for at in places)), WHOLE_NAME)


def _says_none(column: CatalogColumn) -> bool:
    """Whether a column is empty where no one does it, and not where another does it or where it is not known."""
    named = column.references is not None or not is_number(column)
    return named and may_be_empty(column) and _OTHERS.search(when_empty(column)) is None


def _stems(column: CatalogColumn) -> set[str]:
    """Stems of what a column is called, and of who does it or not: "who leads it; empty if no one is planned"."""
    said = [column.name, *column.synonyms]
    said += [column.description.partition(";")[0]] if column.description.lower().startswith("who ") else []
    said += [when_empty(column)] if NO_ONE in when_empty(column) else []
    return {part for text in said for part in stems(text)}
