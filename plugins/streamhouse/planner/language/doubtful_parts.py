"""Wholes and parts of which one is not read: "share of card payments of successful payments", "booked and attended"."""

from streamhouse.planner.language.account import stands_for
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.scope import spoken
from streamhouse.planner.language.tokens import singular
from streamhouse.planner.language.used import used_by
from streamhouse.planner.language.words import SHARES
from streamhouse.planner.request import ColumnRef, Condition, Question

_WHOLE = frozenset({"all", "the", "our", "total", "these"})
_ENDS = frozenset({"per", "by", "in", "for", "with", "that", "which", "who", "each", ",", "and", "?", "."})


def restricted_whole(wish: AnsweredWish) -> Question | None:
    """A share of rows "of" other rows that are restricted, too: the whole needs the restriction."""
    ratios = [one for one in wish.block.derived if one.kind in {"ratio", "share"}]
    wholes = {one.to or one.of for one in ratios}
    if not ratios or wish.block.filters or any(one.where for one in wish.block.measures if one.name in wholes):
        return None
    words = wish.words
    first = next((at + 1 for at in range(len(words) - 1) if words[at] in SHARES and words[at + 1] == "of"), 0)
    second = next((at for at in range(first + 2, len(words)) if first and words[at] == "of"), 0)
    end = next((at for at in range(second + 1, len(words)) if words[at] in _ENDS), len(words))
    if (
        not second
        or words[second + 1] in _WHOLE
        or end - second < _TWO_WORDS
        or singular(words[end - 1]) == words[end - 1]
    ):
        return None
    rows = wish.lexicon.mention(wish.tokens, end - 1, 1)
    if rows is None or not any(sense.quality >= NEARLY_NAME for sense in rows.of_kind("table")):
        return None
    said = " ".join(token.text for token in wish.tokens[second:end])
    return Question(text=f"'{said}': is the share one of these alone, or of all?", phrase=said, choices=())


_TWO_WORDS = 3  # "of", a word that restricts, and the rows


def group_of_things(wish: AnsweredWish) -> Question | None:
    """As in "donors who gave blood three times", where the rows of each blood group would be counted, and no donors."""
    block, scope = wish.block, wish.scope
    if not block.having or block.inner is not None or wish.draft.groups:
        return None
    dimensions = [one.of for one in block.dimensions if isinstance(one.of, ColumnRef)]
    keys = [wish.base.column(one.column).references for one in dimensions if not one.role]
    grouped = {key[0] for key in keys if key is not None}
    for of in dimensions:
        table = scope.reaches[of.role].table if of.role else wish.base
        if not of.role or table.name not in wish.things - grouped or of.column in table.primary_key:
            continue
        said = next(one.text for one in wish.mentions if any(s.table == table.name for s in one.of_kind("table")))
        text = f"'{said}': one row for each of them, or for each {spoken(of.column)}?"
        return Question(text=text, phrase=said)
    return None


def among_rows(wish: AnsweredWish) -> Question | None:
    """A share "among" rows that is read as a share of the total of all groups."""
    among = next((at for at, token in enumerate(wish.tokens) if token.word == "among"), None)
    if among is None or not any(one.kind == "share" for one in wish.block.derived):
        return None
    said = " ".join(token.text for token in wish.tokens[among : among + 2])
    return Question(text=f"'{said}': a share of the rows of each group, or of all rows?", phrase=said)


def measured_twice(wish: AnsweredWish) -> Question | None:
    """An adjective of rows that only what is shown stands for: "delay of late deliveries" by days late.

    As in "volume of rejected loads per reason for rejection", where rows without a reason would be a group.
    """
    base, lexicon = wish.base, wish.lexicon
    for mention in wish.mentions:
        rows = lexicon.mention(wish.tokens, mention.end) if mention.end < len(wish.tokens) else None
        if rows is None or not any(s.table == base.name and s.quality >= NEARLY_NAME for s in rows.of_kind("table")):
            continue
        columns = {sense.column for sense in mention.of_kind("column") if sense.table == base.name}
        plain = len(mention.words) == 1 and not mention.of_kind("value", "table", "measure", "state")
        before = wish.word(mention.start - 1)
        measured = {one.of.column for one in wish.block.measures if isinstance(one.of, ColumnRef) and not one.where}
        bound = any(isinstance(one, Condition) and isinstance(one.left, ColumnRef) and one.left.column in columns
                    for one in wish.block.filters)  # fmt: skip
        grouped = {one for one in columns & _groups_of_base(wish) if may_be_empty(base.column(one))}
        shown = (before in {"of", "for"} and columns & measured) or (is_participle(mention) and grouped)
        if plain and shown and not bound:
            said = f"{mention.text} {rows.text}"
            return Question(text=f"'{said}': which of them are {mention.text}?", phrase=said)
    return None


def _groups_of_base(wish: AnsweredWish) -> set[str]:
    return {one.of.column for one in wish.block.dimensions if isinstance(one.of, ColumnRef) and not one.of.role}


def joined_deeds(wish: AnsweredWish) -> Question | None:
    """Two participles that "and" joins before rows, of which only one is read."""
    used = used_by(wish.block, wish.lexicon)
    ends = {mention.start for mention in wish.mentions}
    for mention in wish.mentions:
        joined = mention.end + 1 < len(wish.tokens) and wish.tokens[mention.end].word in {"and", "or"}
        if not joined or not is_participle(mention) or mention.end + 1 not in ends:
            continue
        base = wish.base
        always = any((sense.table, sense.column) == (base.name, base.event_time) for sense in mention.senses)
        if not always and not any(stands_for(sense, used) for sense in mention.senses if sense.kind != "table"):
            text = f"'{mention.text}' is not read beside what '{wish.tokens[mention.end].word}' joins to it"
            return Question(text=text, phrase=mention.text)
    return None
