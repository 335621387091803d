"""Times that a word of a wish points to, where its answer goes by another one: "meals ordered per day" by their day.

The default time of rows is right where nothing else is said. A verb, a noun and an adjective may say something else.
"""

from collections.abc import Iterator

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.planner.language.account import stands_for
from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Time, When
from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.hints import births_of
from streamhouse.planner.language.levels import ANY_FORM, LAST_WORD_ANY_FORM, NEAR
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.scope import TIMES, is_year, spoken
from streamhouse.planner.language.tokens import stem, stems
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.language.used import used_by
from streamhouse.planner.language.words import LIGHT_STEMS, ROLE_WORDS, TIME_ENDINGS
from streamhouse.planner.request import Block, ColumnRef, Condition, Cut, During, Question


def time_of_verb(wish: AnsweredWish) -> Question | None:
    """A verb that names a time of which nothing is read: "tenants who left in 2025" by when they registered."""
    default = _default_time(wish)
    if default is None:
        return None
    used = used_by(wish.block, wish.lexicon)
    for mention in _verbs(wish):
        named = [one for one in mention.senses if one.quality >= max(ANY_FORM, mention.best - NEAR)]
        times = [one for one in named if one.kind == "column" and _is_time(wish, one.table, one.column)]
        own = [one for one in times if one.table in used.tables]
        if not times or any(stands_for(one, used) for one in named) or (not own and _is_light(mention)):
            continue
        return _asked(wish, mention.text, default, [(one.table, one.column) for one in own or times])
    return None


def time_of_noun(wish: AnsweredWish) -> Question | None:
    """A number that has a time of its own: "deposits per month" by the day of the contract."""
    default = _default_time(wish)
    if default is None:
        return None
    base = wish.base
    counted = {one.of.column for one in wish.block.measures if isinstance(one.of, ColumnRef) and not one.of.role}
    for name in sorted(counted):
        words = _words(base, base.column(name).name)
        for time in _other_times(base, default) if base.column(name).type not in TIMES else ():
            shared = words & set(stems(time.name)) - set(stems(default.column))
            if shared and not _is_said(wish, default):
                return _asked(wish, spoken(name), default, [(base.name, time.name)])
    return None


def time_when_done(wish: AnsweredWish) -> Question | None:
    """As in "repairs done in May", by the day on which they were reported, where the day of their end is known."""
    default = _default_time(wish)
    done = next((token.text for token in wish.tokens if token.word in _DONE), "")
    if default is None or not done or any(mention.text.lower() == done.lower() for mention in wish.mentions):
        return None
    ends = [one for one in _other_times(wish.base, default) if _ENDED & _said_of(one) and may_be_empty(one)]
    return _asked(wish, done, default, [(wish.base.name, ends[0].name)]) if ends else None


def time_for_which(wish: AnsweredWish) -> Question | None:
    """As in "menus planned for June", by the day on which they were planned, where another one says for when."""
    words = wish.words
    for clause in wish.draft.filters:
        if not isinstance(clause, When) or clause.of is None or words[clause.of.end : clause.of.end + 1] != ["for"]:
            continue
        for of in _filtered(wish.block):
            table = wish.scope.reaches[of.role].table
            rivals = [one for one in _other_times(table, of) if _says_for(one)]
            if rivals and not _says_for(table.column(of.column)):
                return _asked(wish, clause.of.text, of, [(table.name, rivals[0].name)])
    return None


def oldest_by_age(wish: AnsweredWish) -> Question | None:
    """As in "the oldest child per school", by the day on which a child came, where the day of birth is known."""
    pick, default = wish.draft.pick, wish.base.event_time
    said = next((token.text for token in wish.tokens if token.word == "oldest"), "")
    if wish.block.pick is None or pick is None or pick.by is not None or not said:
        return None
    births = [one.name for one in (*births_of(wish.base), *filter(_is_year, wish.base.columns)) if one.name != default]
    if not births or f'"column":"{births[0]}"' in wish.block.pick.model_dump_json():
        return None
    names = " or ".join(f"{wish.base.name}.{one}" for one in (births[0], default) if one)
    return Question(text=f"'{said}': which time counts, {names}?", phrase=said)


def value_or_time(wish: AnsweredWish) -> Question | None:
    """A value of which the rows have a time as well: "applications sent per week" by those that are still only sent."""
    default, base = _default_time(wish), wish.base
    values = {str(value) for one in wish.block.filters if isinstance(one, Condition) for value in one.values}
    for mention in wish.mentions if default is not None else ():
        chosen = any(one.table == base.name and one.value in values for one in mention.of_kind("value"))
        times = [one.column for one in mention.of_kind("column") if one.table == base.name
                 and one.quality >= LAST_WORD_ANY_FORM and base.column(one.column).type in TIMES]  # fmt: skip
        if chosen and times and default is not None:
            text = (
                f"'{mention.text}': rows of {base.name} that are so at present, or those with {base.name}.{times[0]}?"
            )
            return Question(text=text, phrase=mention.text)
    return None


def _is_year(column: CatalogColumn) -> bool:
    called = any("year" in text.split() for text in column.synonyms)
    return is_year(column) or (called and not column.unit and column.type in {"int", "bigint", "smallint"})


_DONE = frozenset({"done", "completed", "finished", "performed", "executed", "accomplished"})
_ENDED = frozenset(map(stem, """finish complete end close solve resolve done fix repair settle return deliver
                       ready""".split()))  # fmt: skip


def _says_for(column: CatalogColumn) -> bool:
    return f" {column.description.lower()}".find(" for ") >= 0


def _default_time(wish: AnsweredWish) -> ColumnRef | None:
    """The default time of the base, where rows are filtered or grouped by it, and by no other time."""
    base = wish.base
    if wish.block.inner is not None:
        return None
    refs = [*_filtered(wish.block), *(one.of.of for one in wish.block.dimensions if isinstance(one.of, Cut))]
    known = {base.event_time, *(one.name for one in base.columns if one.type in TIMES and not base.event_time)}
    return refs[0] if refs and all(not one.role and one.column in known for one in refs) else None


def _filtered(block: Block) -> Iterator[ColumnRef]:
    for one in block.filters:
        if isinstance(one, During):
            yield one.of
        if isinstance(one, Condition) and isinstance(one.left, Cut):
            yield one.left.of


def _verbs(wish: AnsweredWish) -> Iterator[Mention]:
    """The verbs that say when, and the participles that no rule read."""
    yield from (one.of for one in wish.draft.filters if isinstance(one, When) and one.of is not None)
    read = {at for one in wish.mentions for at in range(one.start, one.end)}
    for at in range(len(wish.tokens)):
        mention = wish.lexicon.mention(wish.tokens, at, 1) if at not in read else None
        if mention is not None and is_participle(mention):
            yield mention


_WITH_MEANING = frozenset(map(stem, ("end", "leave", "left", "fall", "pass")))


def _is_light(mention: Mention) -> bool:
    """Whether a verb says no more than that rows are there: "made", but not "left"."""
    return stem(mention.words[0]) in LIGHT_STEMS - _WITH_MEANING


def _is_time(wish: AnsweredWish, table: str, column: str) -> bool:
    return wish.lexicon.catalog.tables[table].column(column).type in TIMES


def _other_times(table: CatalogTable, of: ColumnRef) -> list[CatalogColumn]:
    return [one for one in table.columns if one.type in TIMES and one.name != of.column]


def _words(base: CatalogTable, name: str) -> set[str]:
    """The stems of a column's name without its unit, its kind and the name of its table."""
    plain = [part for part in name.split("_") if part not in ROLE_WORDS | TIME_ENDINGS and unit_of(part) is None]
    return {one for part in plain for one in stems(part)} - set(stems(base.name.split(".")[1])) - _GENERAL


_GENERAL = frozenset(map(stem, "total amount price value cost number count sum rate".split()))


def _said_of(column: CatalogColumn) -> set[str]:
    return {one for text in (column.name, *column.synonyms, column.description) for one in stems(text)}


def _is_said(wish: AnsweredWish, of: ColumnRef) -> bool:
    """Whether a word of the wish names the default time, so that it is no guess."""
    return any(
        sense.table == wish.base.name and sense.column == of.column and sense.quality >= ANY_FORM
        for one in wish.mentions
        for sense in one.of_kind("column")
    )


def _asked(wish: AnsweredWish, said: str, default: ColumnRef, others: list[tuple[str, str]]) -> Question:
    """Which time counts; where results are grouped by a period, each choice says of which time it is."""
    chosen = f"{wish.base.name}.{default.column}"
    names = " or ".join(dict.fromkeys((chosen, *(f"{table}.{column}" for table, column in others))))
    group = next((one for one in wish.draft.groups if isinstance(one, Time) and one.of is None), None)
    own = [column for table, column in others if table == wish.base.name]
    if group is None or not own:
        return Question(text=f"'{said}': which time counts, {names}?", phrase=said)
    choices = tuple(f"{group.phrase} of {spoken(one)}" for one in (default.column, *own))
    return Question(text=f"'{said}': which time counts, {names}?", phrase=group.phrase, choices=choices)
