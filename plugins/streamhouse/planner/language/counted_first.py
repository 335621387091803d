"""As in "treatments per month and total cost", "orders and total amount per channel": rows before their figure."""

from dataclasses import replace

from streamhouse.planner.language.levels import NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import AGGREGATES, ARTICLES, GRAINS

_FIGURES = frozenset({*AGGREGATES, "running", "cumulative", "cumulated"})
_GROUPING = frozenset({"per", "by", "each", "every"})
_BINDS = frozenset({"with", "without", "where", "who", "whose", "that", "which", "in", "of", "from"})


def with_counts_first(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "number of" before rows that are counted per group, and have a figure behind "and"."""
    at = int(bool(tokens) and tokens[0].word in ARTICLES)
    rows = lexicon.mention(tokens, at) if at < len(tokens) else None
    if rows is None or not rows.is_plural or not _are_rows(rows, lexicon):
        return tokens
    words = [token.word for token in tokens]
    end = rows.end
    if words[end : end + 1] == ["and"] and _GROUPING & set(words[end:]):
        return _counted(tokens, at) if _is_figure(words, end + 1) else tokens
    grouped = words[end : end + 1] == ["per"] or words[end : end + 2] == ["for", "each"]
    if not grouped and not (words[end : end + 1] == ["by"] and words[end + 1 : end + 2] and words[end + 1] in GRAINS):
        return tokens
    joined = next((n for n in range(end + 2, min(end + 6, len(words))) if words[n] == "and"), None)
    if joined is None or _BINDS & set(words[end + 2 : joined]):
        return tokens
    return _counted(tokens, at) if _is_figure(words, joined + 1) else tokens


def _is_figure(words: list[str], at: int) -> bool:
    """Whether an aggregate begins at a place, or behind its article."""
    while at < len(words) and words[at] in ARTICLES:
        at += 1
    return at < len(words) and words[at] in _FIGURES


def _counted(tokens: tuple[Token, ...], at: int) -> tuple[Token, ...]:
    first = tokens[at]
    put = tuple(replace(first, text=word, word=word, stem=stem(word), kind="word") for word in ("number", "of"))
    return (*tokens[:at], *put, *tokens[at:])


def _are_rows(rows: Mention, lexicon: Lexicon) -> bool:
    """Whether words name rows of a table, and no other number than how many there are."""
    named = [one for one in rows.senses if one.quality >= NAME]
    measures = [lexicon.catalog.tables[one.table].measures[one.measure] for one in named if one.kind == "measure"]
    others = any(one.kind in {"column", "value"} for one in named)
    counts = all(one.sql.replace(" ", "").upper() == "COUNT(*)" for one in measures)
    return counts and not others and any(one.kind == "table" for one in named)
