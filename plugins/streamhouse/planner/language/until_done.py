"""As in "how long does it take until a repair is finished": the time from when a row came to be until that is done."""

from dataclasses import replace

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import is_past_form

_UNITS = ("days", "hours", "minutes", "weeks")
_OPENERS = (
    ("how", "long", "does", "it", "take"), ("how", "long", "did", "it", "take"), ("how", "long", "it", "takes"),
    *(("how", "many", one, does, "it", "take") for one in _UNITS for does in ("does", "did")),
    ("average", "duration", "of", "it"), ("average", "time"), ("mean", "time"),
    *(("average", "number", "of", one) for one in _UNITS), *(("average", one) for one in _UNITS),
)  # fmt: skip
_BETWEEN = frozenset({"us", "them"})
_UNTIL = frozenset({"until", "till", "before"})
_ARTICLES = frozenset({"a", "an", "the", "our"})
_IS = frozenset({"is", "are", "was", "were", "gets", "get", "has", "have", "been"})


def with_time_until(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "average time between reported and finished" for "how long … until a repair is finished"."""
    for at in range(len(tokens)):
        found = next(((one, end) for one in _OPENERS if (end := _behind(tokens, at, one))), None)
        if found is None or found[1] >= len(tokens) - 2:
            continue
        to = tokens[found[1]].word
        if to not in _UNTIL and not (to == "to" and _averaged(tokens)):
            continue
        moments = (_moments if to in _UNTIL else _deed)(tokens, found[1] + 1, lexicon)
        if moments is None:
            return tokens
        opener, (table, first, last, of, end) = found[0], moments
        draft.assumptions.append(f"the time from {table}.{first} to {table}.{last}")
        old = tokens[at]
        unit = next((word for word in opener if word in _UNITS), "time")
        words = [
            replace(old, text=word, word=word, stem=stem(word)) for word in ("average", unit, "between", "and", "of")
        ]
        names = [replace(old, text=one.replace("_", " "), word=f"{table}.{one}", stem=f"{table}.{one}", kind="name")
                 for one in (first, last)]  # fmt: skip
        rows = (words[4], *of) if len(of) > 1 else ()
        behind = tokens[end:] if to in _UNTIL else _without_average(tokens[end:])
        return (*tokens[:at], *words[:3], names[0], words[3], names[1], *rows, *behind)
    return tokens


def _averaged(tokens: tuple[Token, ...]) -> bool:
    return bool({"average", "mean", "avg"} & {token.word for token in tokens})


def _without_average(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The tokens without "on average", which the average time says already."""
    words = [token.word for token in tokens]
    at = next((at for at in range(len(words) - 1) if words[at : at + 2] == ["on", "average"]), None)
    if at is None:
        return tokens
    return (*tokens[: at - 1 if at and words[at - 1] == "," else at], *tokens[at + 2 :])


def _deed(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[str, str, str, tuple[Token, ...], int] | None:
    """As `_moments`, of "to settle a claim": the verb before the rows names one of their times."""
    verb, at = tokens[at], at + 1
    while at < len(tokens) and tokens[at].word in _ARTICLES:
        at += 1
    begin = at
    rows = lexicon.mention(tokens, at, 1) if at < len(tokens) else None
    if rows is not None and rows.of_kind("value") and not rows.tables(WHOLE_NAME):
        at = rows.end
        rows = lexicon.mention(tokens, at, 1) if at < len(tokens) else None
    if rows is None or len(rows.tables(WHOLE_NAME)) != 1:
        return None
    name = rows.tables(WHOLE_NAME).pop()
    table = lexicon.catalog.tables[name]
    times = {one.column for one in lexicon.meanings((verb.stem,), (verb.word,)) if one.kind == "column"
             and one.table == name and one.quality >= ANY_FORM and table.column(one.column).type in TIMES}  # fmt: skip
    if table.event_time is None or len(times) != 1 or table.event_time in times:
        return None
    return name, table.event_time, times.pop(), tokens[begin : rows.end], rows.end


def _behind(tokens: tuple[Token, ...], at: int, opener: tuple[str, ...]) -> int:
    """Where an opener ends, with the words that say nothing between and behind its own; 0: it is not there."""
    for word in opener:
        at = _skipped(tokens, at) if word != opener[0] else at
        if at >= len(tokens) or tokens[at].word != word:
            return 0
        at += 1
    return _skipped(tokens, at)


def _skipped(tokens: tuple[Token, ...], at: int) -> int:
    while at < len(tokens):
        on_average = [token.word for token in tokens[at : at + 2]] == ["on", "average"]
        if not on_average and tokens[at].word not in _BETWEEN:
            break
        at += 1 + on_average
    return at


def _moments(
    tokens: tuple[Token, ...], at: int, lexicon: Lexicon
) -> tuple[str, str, str, tuple[Token, ...], int] | None:
    """The table, its first time, the time that a participle behind its rows names, its rows, and where that ends."""
    while at < len(tokens) and tokens[at].word in _ARTICLES:
        at += 1
    begin = at
    rows = lexicon.mention(tokens, at, 1) if at < len(tokens) else None
    if rows is not None and rows.of_kind("value") and not rows.tables(WHOLE_NAME):
        at = rows.end
        rows = lexicon.mention(tokens, at, 1) if at < len(tokens) else None
    if rows is None or len(rows.tables(WHOLE_NAME)) != 1:
        return None
    name = rows.tables(WHOLE_NAME).pop()
    table = lexicon.catalog.tables[name]
    at = rows.end
    while at < len(tokens) and tokens[at].word in _IS:
        at += 1
    done = lexicon.mention(tokens, at) if at < len(tokens) else None
    if done is None or at == rows.end or table.event_time is None or not is_past_form(tokens[at].word):
        return None
    times = {one.column for one in done.of_kind("column") if one.table == name and one.quality >= ANY_FORM
             and table.column(one.column).type in TIMES}  # fmt: skip
    times -= {table.event_time}
    return (name, table.event_time, times.pop(), tokens[begin : rows.end], done.end) if len(times) == 1 else None
