"""Words of a wish with two readings of which both fit, and that give different answers: each is asked back.

The rules that read a wish take the nearer reading. Here the answer is compared with the reading that was not taken.
"""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Draft, Is, Noun, Present
from streamhouse.planner.language.levels import ANY_FORM, LAST_WORD, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention, Sense
from streamhouse.planner.language.mentions import mentions_of, tables_named
from streamhouse.planner.language.named_rows import names_rows
from streamhouse.planner.language.parts_of_tables import (
    count_or_number,
    part_not_there,
    rows_or_number,
    thing_or_measure,
    value_or_rows,
)
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import Token, singular, stem, stems
from streamhouse.planner.language.units import is_unit_ending
from streamhouse.planner.language.words import GRAINS, ROLE_WORDS
from streamhouse.planner.request import ColumnRef, Condition, Question, Related


def value_of_two(wish: AnsweredWish) -> Question | None:
    """A value of two columns, where no word says which: "boats in Red Sky", which is a boat and a yard."""
    scope = wish.scope
    sided = {id(value) for one in wish.draft.filters if isinstance(one, Is) and (one.of is not None or one.cues)
             for value in one.values}  # fmt: skip
    for mention in wish.mentions:
        senses = [
            s
            for s in mention.of_kind("value")
            if s.quality >= max(mention.best, WHOLE_NAME) and s.table in scope.by_table
        ]
        tables = scope.lexicon.catalog.tables
        roots = {scope.root(*(tables[s.table].column(s.column).references or (s.table, s.column))): s for s in senses}
        near = {singular(token.word) for token in wish.tokens[max(mention.start - 3, 0) : mention.end + 2]}
        if len({table for table, _ in roots}) < 2 or id(mention) in sided or any(_is_said(one, near) for one in senses):
            continue
        if (
            _is_before_rows(mention, wish)
            or _is_described(list(roots.values()), near, wish)
            or _is_group(mention, wish)
        ):
            continue
        same = len({s.column for s in roots.values()}) < len(roots)  # "district" of passes, and of pools
        names = [f"{s.table}.{s.column}" if same else s.column.replace("_", " ") for s in roots.values()]
        choices = tuple(f"{name} '{s.value}'" for name, s in zip(names, roots.values(), strict=True))
        columns = " and of ".join(f"{s.table}.{s.column}" for s in roots.values())
        text = f"'{mention.text}' is a value of {columns}: which one?"
        return Question(text=text, phrase=mention.text, choices=choices)
    return None


def _is_group(value: Mention, wish: AnsweredWish) -> bool:
    """Whether the name is that of a column which the answer shows, and no row is chosen by it: "per product"."""
    named = {(one.table, one.column) for one in value.of_kind("column") if one.quality >= WHOLE_NAME}
    return bool(named & wish.shown) and _tables_with(value, wish) == {wish.base.name}


def _is_before_rows(value: Mention, wish: AnsweredWish) -> bool:
    """Whether a value stands before the rows that have it: "piano | courses", where teachers have a piano, too."""
    rows = wish.lexicon.mention(wish.tokens, value.end) if value.end < len(wish.tokens) else None
    named = rows.tables(WHOLE_NAME) if rows is not None else set()
    own = {one.table for one in value.of_kind("value") if one.quality >= WHOLE_NAME}
    return len(named) == 1 and named <= own and named <= _tables_with(value, wish)


def _tables_with(value: Mention, wish: AnsweredWish) -> set[str]:
    """The tables of which a column must have a value, of those that the answer reads."""
    texts = {one.value for one in value.of_kind("value")}
    left = [
        one.left for one in wish.block.filters if isinstance(one, Condition) and texts & {str(v) for v in one.values}
    ]
    return {wish.base.name} | {wish.scope.reaches[of.role].table.name for of in left
                               if isinstance(of, ColumnRef) and of.role in wish.scope.reaches}  # fmt: skip


def _is_described(senses: list[Sense], near: set[str], wish: AnsweredWish) -> bool:
    """Whether a verb beside a value is in the description of the rows' own column alone: "who live in Riverton"."""
    tables = wish.lexicon.catalog.tables
    verbs = {stem(word) for word in near if word in _VERBS_OF_PLACES}
    said = [one for one in senses if verbs & set(stems(tables[one.table].column(one.column).description))]
    return len(said) == 1 and said[0].table == wish.base.name


_VERBS_OF_PLACES = frozenset(
    "live lives lived living reside resides work works worked come comes came start starts".split()
)


def _is_said(sense: Sense, near: set[str]) -> bool:
    """Whether words beside a value name its column."""
    things = {singular(part) for part in sense.table.split(".")[1].split("_")}
    return bool(({singular(part) for part in sense.column.split("_")} - things) & near)


def own_or_joined(wish: AnsweredWish) -> Question | None:
    """A column of a joined table, where the rows have one that ends so: "state" of a customer, or of the bill."""
    base, scope = wish.base, wish.scope
    joined = {(scope.reaches[one.of.role].table.name, one.of.column)
              for one in (*wish.block.dimensions, *wish.block.columns)
              if isinstance(one.of, ColumnRef) and one.of.role in scope.reaches and one.of.role}  # fmt: skip
    if not joined or wish.block.inner is not None:
        return None
    for mention in wish.mentions:
        taken = [s for s in mention.of_kind("column") if (s.table, s.column) in joined]
        if not taken or taken[0].table in wish.things or len(mention.words) != 1:
            continue
        word = singular(mention.words[0])
        own = [c.name for c in base.columns if c.name != word and _last_part(c.name) == word and c.references is None]
        before = {stem(part) for part in own[0].split(f"_{word}")[0].split("_")} if own else set()
        if own and not before & {stem(token.word) for token in wish.tokens}:
            choices = (own[0].replace("_", " "), f"{word} of the {singular(taken[0].table.split('.')[1])}")
            text = f"'{mention.text}' may mean {base.name}.{own[0]} or {taken[0].table}.{taken[0].column}: which one?"
            return Question(text=text, phrase=mention.text, choices=choices)
    return None


def _last_part(column: str) -> str:
    """The last part of the name of a column that does not say its unit: "price" of `cup_price_eur`."""
    parts = column.split("_")
    return parts[-2] if len(parts) > _TWO and is_unit_ending(parts[-1]) else parts[-1]


_TWO = 2


def thing_or_column(wish: AnsweredWish) -> Question | None:
    """A word that names a table, and as well another column of the rows: "sail types" as rows, or by their type."""
    base, scope = wish.base, wish.scope
    shown = wish.shown
    for mention in wish.mentions:
        tables = mention.tables(WHOLE_NAME)
        columns = [s for s in mention.of_kind("column") if s.quality >= WHOLE_NAME and s.table in scope.by_table]
        if not tables or not columns or mention.of_kind("measure"):
            continue
        rivals = [s for s in columns if _is_text(s, wish.found) and not _is_key_to(s, tables, wish.found)]
        taken = any((s.table, s.column) in shown for s in rivals)
        summed = any(isinstance(one.of, ColumnRef) and any(s.column == one.of.column for s in columns)
                     for one in wish.block.measures)  # fmt: skip
        if rivals and not (taken or summed) and rivals[0].table in {base.name, *tables} and _stands_for(tables, wish):
            sense = rivals[0]
            text = f"'{mention.text}': rows of {min(tables)}, or {sense.table}.{sense.column}?"
            return Question(text=text, phrase=mention.text, choices=())
    return None


def _stands_for(tables: set[str], wish: AnsweredWish) -> bool:
    """Whether the key of one of some tables is shown, or a column that points to it."""
    catalog = wish.lexicon.catalog.tables
    for table, name in wish.shown:
        target = catalog[table].column(name).references
        if (table in tables and name in catalog[table].primary_key) or (target is not None and target[0] in tables):
            return True
    return False


def _is_text(sense: Sense, found: Shaped) -> bool:
    column = found.bench.places.scope.lexicon.catalog.tables[sense.table].column(sense.column)
    return column.type == "string" and column.name.split("_")[-1] not in ROLE_WORDS


def _is_key_to(sense: Sense, tables: set[str], found: Shaped) -> bool:
    table = found.bench.places.scope.lexicon.catalog.tables[sense.table]
    target = table.column(sense.column).references
    return sense.column in table.primary_key or (target is not None and target[0] in tables)


def counted_otherwise(wish: AnsweredWish) -> Question | None:
    """Values of a column that are counted for a word that names other rows: "trips" by the numbers of tickets."""
    base = wish.base
    for measure in wish.block.measures if wish.block.inner is None else ():
        if measure.function != "count distinct" or not isinstance(measure.of, ColumnRef) or measure.of.role:
            continue
        target = base.column(measure.of.column).references
        for mention in wish.mentions:
            tables = mention.tables(WHOLE_NAME)
            own = [s for s in mention.of_kind("column") if (s.table, s.column) == (base.name, measure.of.column)]
            if tables and own and base.name not in tables and target is None:
                text = f"'{mention.text}': rows of {min(tables)}, or {base.name}.{measure.of.column}?"
                return Question(text=text, phrase=mention.text)
    return None


def counted_elsewhere(wish: AnsweredWish) -> Question | None:
    """Things counted where rows point to them, although the word names the things better: only some have such rows."""
    base, mentions = wish.base, wish.mentions
    for measure in wish.block.measures if wish.block.inner is None else ():
        if measure.function != "count distinct" or not isinstance(measure.of, ColumnRef) or measure.of.role:
            continue
        target = base.column(measure.of.column).references
        for mention in mentions if target is not None else ():
            named = {s.table: s.quality for s in reversed(mention.of_kind("table"))}
            things, rows = named.get(target[0] if target else "", 0.0), named.get(base.name, 0.0)
            others = (s for one in mentions if one is not mention for s in one.senses if s.quality >= LAST_WORD)
            if 0 < rows < things and not any(s.table == base.name for s in others):
                text = f"'{mention.text}': all of {target[0] if target else ''}, or those with rows of {base.name}?"
                return Question(text=text, phrase=mention.text)
    return None


def lacking_things(wish: AnsweredWish) -> Question | None:
    """Things without something, read from rows that only link the two: "parts not in any order" by rows of orders."""
    block, base = wish.block, wish.base
    if block.inner is not None:
        return None
    counts_rows = any(one.of is None for one in block.measures)
    linked = not counts_rows and _of_others(wish.found) and not _named_first(wish)
    for one in block.filters:
        if isinstance(one, Condition) and one.operator in _DENIED and isinstance(one.left, ColumnRef):
            key = one.operator == "is null" and not one.left.role and one.left.column in base.primary_key
            if key or (linked and _is_elsewhere(one.left, wish.found)):
                said = f"{one.left.column} {one.operator} {' or '.join(map(str, one.values))}".strip()
                text = f"'{said}': a row of {base.name} that is so, or none of a thing's rows that is otherwise?"
                return Question(text=text, phrase="")
        if isinstance(one, Related) and not one.exists and not _denied(one, wish.draft, base.name):
            return Question(text=f"what is not there: rows of {one.table}, or of something else?", phrase="")
    return None


_DENIED = frozenset({"is null", "<>", "not in"})


def _named_first(wish: AnsweredWish) -> bool:
    """Whether a wish names rows before what it denies of them: "guests with bookings that have no payment"."""
    denied = [one for one in wish.draft.filters if (isinstance(one, Present) and not one.present) or _is_denied(one)]
    starts = [mention.start for one in denied for mention in mentions_of(one)]
    rows = [one.start for one in wish.mentions if any(s.table == wish.base.name and s.quality >= WHOLE_NAME
                                                           for s in one.of_kind("table", "measure"))]  # fmt: skip
    return bool(rows) and (not starts or min(rows) < min(starts) or min(rows) - 1 in starts)


def _is_denied(one: object) -> bool:
    return isinstance(one, Is) and one.negated


def _is_elsewhere(left: ColumnRef, found: Shaped) -> bool:
    """Whether a condition is on another table than what is shown: the town of an address, where people are shown."""
    reaches, tables = found.bench.places.scope.reaches, found.bench.places.scope.lexicon.catalog.tables
    block, shown = found.block, set()
    of = [*(one.of for one in (*block.dimensions, *block.columns)), *(one.of for one in block.measures)]
    for one in of:
        if isinstance(one, ColumnRef) and one.role in reaches and one != left:
            target = tables[reaches[one.role].table.name].column(one.column).references
            shown.add(target[0] if target is not None else reaches[one.role].table.name)
    return reaches[left.role].table.name not in shown


def _of_others(found: Shaped) -> bool:
    """Whether all that is shown or counted belongs to things that the rows point to."""
    of = [one.of for one in (*found.block.dimensions, *found.block.columns)]
    of += [one.of for one in found.block.measures if one.of is not None]
    said = {repr(one.left) for one in found.block.filters if isinstance(one, Condition)}
    of = [one for one in of if repr(one) not in said]
    refs = [one for one in of if isinstance(one, ColumnRef)]
    return bool(refs) and len(refs) == len(of) and all(
        one.role or found.bench.base.column(one.column).references is not None for one in refs
    )  # fmt: skip


def _denied(related: Related, draft: Draft, base: str) -> bool:
    """Whether the word for what is not there may name the rows of a condition; a verb or a weak name always may."""
    if related.filters:
        return True
    nouns = [one.noun for one in draft.filters if isinstance(one, Present) and not one.present]
    for noun in nouns:
        mentions = noun.mentions if isinstance(noun, Noun) else ()
        tables = tables_named(mentions, WHOLE_NAME)
        if base not in tables or related.table in tables or any(is_participle(m) for m in mentions):
            return True
        if any(s.table == related.table and s.quality > WHOLE_NAME for m in mentions for s in m.senses):
            return True
    return not nouns


def rows_of_links(wish: AnsweredWish) -> Question | None:
    """A list of things by rows that the wish does not name: "towns of boats with 3 cabins" by the trips of boats."""
    block, base = wish.block, wish.base
    if block.measures or block.derived or block.inner is not None or block.pick is not None or wish.found.ranking:
        return None
    if not (block.columns or block.dimensions) or not _of_others(wish.found):
        return None
    weak = all(s.quality <= ANY_FORM for one in wish.mentions for s in one.of_kind("table") if s.table == base.name)
    own = any(s.table == base.name and base.column(s.column).references is None and s.quality >= LAST_WORD
              for one in wish.mentions for s in one.of_kind("column", "value"))  # fmt: skip
    if names_rows(wish) and (not weak or own):
        return None
    scope = wish.scope
    needed = {table for table, _ in wish.shown} | {
        scope.reaches[one.left.role].table.name
        for one in block.filters
        if isinstance(one, Condition) and isinstance(one.left, ColumnRef)
    }
    pointed = (base.column(name).references for table, name in wish.shown if table == base.name)
    needed = (needed - {base.name}) | {target[0] for target in pointed if target is not None}
    if not any(needed <= _reached_from(table, scope.lexicon) for table in scope.by_table if table != base.name):
        return None  # the rows are what links the tables
    text = f"only what {base.name} has rows of, which the wish does not name, or all of it?"
    return Question(text=text, phrase="")


def needless_rows(wish: AnsweredWish) -> Question | None:
    """Rows that no word names, where all that is said fits the table that one names: "town of the yard named Gull"."""
    block, base = wish.block, wish.base
    mentions = wish.mentions
    if block.measures or block.derived or block.inner is not None or wish.found.ranking is not None:
        return None
    if base.name in tables_named(mentions, LAST_WORD, "table", "measure"):
        return None
    for table in sorted(wish.things & set(wish.scope.by_table)):
        if all(any(s.table == table and s.quality >= WHOLE_NAME for s in one.senses) for one in mentions):
            return Question(text=f"of {table} alone, or of rows of {base.name}?", phrase="")
    return None


def weakly_joined(wish: AnsweredWish) -> Question | None:
    """A column of a table that no word names, by a part of its name: "description of the trip" by that of its area."""
    scope = wish.scope
    mentions = wish.mentions
    named = {s.table for one in mentions for s in one.senses if s.quality >= LAST_WORD}
    for one in (*wish.block.dimensions, *wish.block.columns):
        if not isinstance(one.of, ColumnRef) or not one.of.role or one.of.role not in scope.reaches:
            continue
        table = scope.reaches[one.of.role].table.name
        fits = [
            s.quality for m in mentions for s in m.of_kind("column") if (s.table, s.column) == (table, one.of.column)
        ]
        if fits and table not in named | _named_within(wish, one.of.column):
            text = f"{table}.{one.of.column}, or something else?"
            return Question(text=text, phrase="", choices=(one.of.column.replace("_", " "),))
    return None


def _named_within(wish: AnsweredWish, column: str) -> set[str]:
    """The tables that the last word of a name of a column is the whole name of: shops of "kind of shop"."""
    lasts = {
        one.words[-1]
        for one in wish.mentions
        for s in one.of_kind("column")
        if s.column == column and "of" in one.words
    }
    senses = (sense for word in lasts for sense in wish.lexicon.meanings((stem(word),)))
    return {sense.table for sense in senses if sense.kind == "table" and sense.quality >= WHOLE_NAME}


def column_of_another(wish: AnsweredWish) -> Question | None:
    """A column that the table named beside it does not have: "names of yards" by the names of the boats in them."""
    lexicon = wish.lexicon
    shown = wish.shown
    for noun in wish.draft.nouns:
        beside = tables_named(noun.around, WHOLE_NAME)
        taken = [s for s in noun.head.of_kind("column") if (s.table, s.column) in shown]
        general = len(noun.head.words) == 1 and singular(noun.head.words[0]) in _GENERAL
        if not beside or not taken or not general:
            continue
        target = lexicon.catalog.tables[taken[0].table].column(taken[0].column).references
        if any(taken[0].table in _reached_from(table, lexicon) for table in beside) or (target and target[0] in beside):
            continue
        text = f"'{noun.text}': {taken[0].table}.{taken[0].column} is no column of {min(beside)}: what is to be shown?"
        return Question(text=text, phrase=noun.text)
    return None


_GENERAL = ROLE_WORDS | {"name", "date", "title", "description", "type", "detail"}


def _reached_from(table: str, lexicon: Lexicon) -> set[str]:
    """A table, and those that its rows point to, over any number of steps."""
    reached, pending = {table}, [table]
    while pending:
        for key in lexicon.keys.get(pending.pop(), []):
            if key.to not in reached:
                reached.add(key.to)
                pending.append(key.to)
    return reached


def column_of_named(wish: AnsweredWish) -> Question | None:
    """A column of rows that no word names, where a named table has it, too: "county of the yard" by its boats."""
    scope = wish.scope
    mentions = wish.mentions
    named = tables_named(mentions, LAST_WORD, "table", "measure")
    where = {s.table for one in mentions for s in one.of_kind("table") if _says_where(wish.tokens, one.start)}
    for mention in mentions:
        senses = mention.of_kind("column")
        taken = [s for s in senses if (s.table, s.column) in wish.shown and s.table not in named]
        others = [
            s
            for s in senses
            if s.table in (named - where) & set(scope.by_table) and taken and s.quality >= taken[0].quality
        ]
        if others and not _same_values(taken[0], others[0], wish.found):
            one, other = (f"{s.table}.{s.column}" for s in (taken[0], others[0]))
            return Question(text=f"'{mention.text}' may mean {other} or {one}: which one?", phrase=mention.text)
    return None


def _says_where(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a thing only says where the rows are: "names of those in the North team"."""
    before = [token.word for token in tokens[max(at - 3, 0) : at]]
    return bool({"in", "at", "from", "on"} & set(before))


def _same_values(one: Sense, other: Sense, found: Shaped) -> bool:
    """Whether two columns are the same key, or one points to the other."""
    scope = found.bench.places.scope
    places = [(s.table, s.column) for s in (one, other)]
    tables = scope.lexicon.catalog.tables
    targets = [tables[table].column(column).references or (table, column) for table, column in places]
    return targets[0] == targets[1] or scope.root(*places[0]) == scope.root(*places[1])


def partly_named(wish: AnsweredWish) -> Question | None:
    """One more thing to show that only is a part of the name of the rows: "all sails and their types"."""
    listed = [one for one in wish.draft.nouns if one.listed and not one.predicate]
    for noun in listed[1:] if not (wish.block.measures or wish.block.derived) else ():
        senses = noun.head.senses
        if noun.head.best < WHOLE_NAME and all(s.kind == "table" for s in senses) and not noun.around:
            text = f"'{noun.text}': which column of {wish.base.name}?"
            return Question(text=text, phrase=noun.text)
    return None


def period_or_column(wish: AnsweredWish) -> Question | None:
    """A word for a period that is another word for a column, too: "per quarter", where a part of a town is one."""
    scope, shown = wish.scope, wish.shown
    for mention in wish.mentions:
        word = mention.words[0] if len(mention.words) == 1 else ""
        for sense in mention.of_kind("column") if GRAINS.get(word) is not None else ():
            column = scope.lexicon.catalog.tables[sense.table].column(sense.column)
            if (sense.table, sense.column) in shown and column.type == "string" and column.name != word:
                text = f"'{mention.text}': {sense.table}.{sense.column}, or the {GRAINS[word].value} of the calendar?"
                return Question(text=text, phrase=mention.text, choices=(column.name.replace("_", " "),))
    return None


TWO_READINGS = (
    value_of_two, own_or_joined, thing_or_column, counted_otherwise, counted_elsewhere, lacking_things, rows_of_links,
    partly_named, needless_rows, weakly_joined, column_of_another, column_of_named, period_or_column,
    value_or_rows, part_not_there, thing_or_measure, count_or_number, rows_or_number,
)  # fmt: skip
"""The checks, in the order in which they ask."""
