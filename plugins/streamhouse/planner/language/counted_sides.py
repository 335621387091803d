"""As in "lessons given and lessons missed per teacher": a number of the rows of each of two values of one column."""

from dataclasses import dataclass, replace

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import COUNTING

_BEFORE = frozenset({"", ",", ":", "the", "show", "me", "us", "give", "list", "count", "all"})
_GROUPING = frozenset({"per", "by", "each", "every"})
_FOLDED = frozenset("share percentage percent proportion average avg mean total sum ratio rate most least top".split())


@dataclass(frozen=True)
class _SidedRows:
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
        if _ask_each(tokens, at + counting, lexicon, draft):
            return tokens
        first = _rows(tokens, at + counting, lexicon)
        if first is None or first.end >= len(tokens) or tokens[first.end].word != "and":
            continue
        again = first.end + 1
        last = _rows(tokens, again + _counting(tokens, again), lexicon)
        if last is None or first.value.words == last.value.words:
            continue
        same = first.thing.words == last.thing.words
        if same and first.table != last.table:
            said = " ".join(token.text for token in tokens[first.start : last.end])
            draft.questions.append((f"'{said}': a number of each, or of those that are both?", said, ()))
            return tokens
        if same or (last.table == first.table and _differ(first.value, last.value, lexicon)):
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


def _ask_each(tokens: tuple[Token, ...], at: int, lexicon: Lexicon, draft: Draft) -> bool:
    """Ask of "emergencies and no-shows per vet" if each is counted; False: it does not stand here."""
    first = lexicon.mention(tokens, at) if at < len(tokens) else None
    if first is None or first.end + 1 >= len(tokens) or tokens[first.end].word != "and":
        return False
    last = lexicon.mention(tokens, first.end + 1)
    if last is None or (last.end < len(tokens) and tokens[last.end].word not in _GROUPING):
        return False
    columns = [_columns(one, lexicon) for one in (first, last)]
    if not all(columns) or columns[0] & columns[1]:
        return False
    said = f"{first.text} and {last.text}"
    draft.questions.append((f"'{said}': a number of each, or of those that are both?", said, ()))
    return True


def _counting(tokens: tuple[Token, ...], at: int) -> int:
    """How many tokens "number of" has here; 0: it does not stand here."""
    words = tuple(token.word for token in tokens[at : at + 2])
    return 2 if words in COUNTING else 0


def _rows(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> _SidedRows | None:
    """Rows with a value that begin at a token, with the table that has it: the one that is named, or another."""
    one = lexicon.mention(tokens, at) if at < len(tokens) else None
    if one is None:
        return None
    inner = lexicon.mention(tokens, one.end - 1, 1) if one.end - one.start > 1 else None
    other = lexicon.mention(tokens, one.end) if one.end < len(tokens) else None
    for value, thing in ((one, inner), (one, other), (other, one)):
        tables = thing.tables(WHOLE_NAME) if thing is not None else set()
        having = {table for table, _ in _columns(value, lexicon)} if value is not None else set()
        if value is not None and thing is not None and tables and having:
            table = min(tables & having or having)
            return _SidedRows(at, max(value.end, thing.end), value, thing, table)
    return None


def _columns(value: Mention, lexicon: Lexicon) -> set[tuple[str, str]]:
    """The columns that have a value, or are yes or no; none where a phrase is something else rather."""
    senses = [sense for sense in value.senses if sense.quality >= WHOLE_NAME]
    found = {(sense.table, sense.column) for sense in senses if sense.kind == "value"}
    if any((sense.table, sense.column) not in found for sense in senses):
        return set()
    return {root_of(lexicon, *place) for place in found}


def _differ(one: Mention, other: Mention, lexicon: Lexicon) -> bool:
    """Whether two phrases are different values of one column."""
    said = [{s.value for s in mention.of_kind("value")} for mention in (one, other)]
    return bool(_columns(one, lexicon) & _columns(other, lexicon)) and not said[0] & said[1]


def _said(tokens: tuple[Token, ...], rows: _SidedRows) -> tuple[Token, ...]:
    old = tokens[rows.start]
    number = tuple(replace(old, text=one, word=one, stem=stem(one), kind="word") for one in ("number", "of"))
    value, thing = (tokens[one.start : one.end] for one in (rows.value, rows.thing))
    return (*number, *value, *(thing if rows.thing.end > rows.value.end or rows.thing.start < rows.value.start else ()))
