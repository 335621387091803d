"""As in "lessons given and lessons missed per teacher": a number of the rows of each of two values of one column."""

from dataclasses import dataclass, replace

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.language.tokens import Token, stem

_COUNTING = (("number", "of"), ("how", "many"), ("count", "of"))
_BEFORE = frozenset({"", ",", ":", "the", "show", "me", "us", "give", "list", "count", "all"})
_GROUPING = frozenset({"per", "by", "each", "every"})
_FOLDED = frozenset("share percentage percent proportion average avg mean total sum ratio rate most least top".split())


@dataclass(frozen=True)
class _Rows:
    """Rows with a value: "lessons given", or "given lessons"."""

    start: int
    end: int
    value: Mention
    thing: Mention
    table: str


def with_counts_of_values(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "number of" before each side; of "private and business customers" it is asked what is counted."""
    words = {token.word for token in tokens}
    if "and" not in words or words & _FOLDED:
        return tokens
    _ask(tokens, lexicon, draft)
    for at in range(len(tokens)):
        counting = _counting(tokens, at)
        if not counting and not words & _GROUPING:
            continue
        if not counting and (at and tokens[at - 1].word not in _BEFORE):
            continue
        first = _rows(tokens, at + counting, lexicon)
        if first is None or first.end >= len(tokens) or tokens[first.end].word != "and":
            continue
        again = first.end + 1
        last = _rows(tokens, again + _counting(tokens, again), lexicon)
        if last is not None and last.table == first.table and _differ(first.value, last.value, lexicon):
            put = [*_said(tokens, first), tokens[first.end], *_said(tokens, last)]
            return (*tokens[:at], *put, *tokens[last.end :])
    return tokens


def _ask(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> None:
    for at in range(len(tokens) - 4):
        begin = at + _counting(tokens, at)
        first = lexicon.mention(tokens, begin) if begin > at else None
        if first is None or first.end + 1 >= len(tokens) or tokens[first.end].word != "and":
            continue
        last = _rows(tokens, first.end + 1, lexicon)
        if last is None or last.value.start > last.thing.start or not _differ(first, last.value, lexicon):
            continue
        said = f"{first.text} and {last.value.text} {last.thing.text}"
        sides = f"{last.thing.text}, {first.text} vs {last.value.text}"
        together = f"{first.text} or {last.value.text} {last.thing.text}"
        text = f"'{said}': one number for all of them, or one for each?"
        draft.questions.append((text, said, (together, sides)))
        return


def _counting(tokens: tuple[Token, ...], at: int) -> int:
    """How many tokens "number of" has here; 0: it does not stand here."""
    words = tuple(token.word for token in tokens[at : at + 2])
    return 2 if words in _COUNTING else 0


def _rows(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> _Rows | None:
    """Rows with a value of a column of theirs that begin at a token."""
    one = lexicon.mention(tokens, at) if at < len(tokens) else None
    other = lexicon.mention(tokens, one.end) if one is not None and one.end < len(tokens) else None
    if one is None or other is None:
        return None
    for value, thing in ((one, other), (other, one)):
        for table in (s.table for s in thing.of_kind("table") if s.quality >= WHOLE_NAME):
            if any(own == table for own, _ in _columns(value, lexicon)):
                return _Rows(at, other.end, value, thing, table)
    return None


def _columns(value: Mention, lexicon: Lexicon) -> set[tuple[str, str]]:
    """The columns that have a value; none where a phrase is something else rather."""
    if not value.senses or value.senses[0].kind != "value":
        return set()
    senses = (sense for sense in value.of_kind("value") if sense.quality >= WHOLE_NAME)
    return {root_of(lexicon, sense.table, sense.column) for sense in senses}


def _differ(one: Mention, other: Mention, lexicon: Lexicon) -> bool:
    """Whether two phrases are different values of one column."""
    return bool(_columns(one, lexicon) & _columns(other, lexicon)) and one.senses[0].value != other.senses[0].value


def _said(tokens: tuple[Token, ...], rows: _Rows) -> tuple[Token, ...]:
    old = tokens[rows.start]
    number = tuple(replace(old, text=one, word=one, stem=stem(one), kind="word") for one in ("number", "of"))
    value, thing = (tokens[one.start : one.end] for one in (rows.value, rows.thing))
    return (*number, *value, *thing)
