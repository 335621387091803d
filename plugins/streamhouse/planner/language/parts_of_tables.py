"""Words whose rows two tables have: each is asked back where the answers differ."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Noun
from streamhouse.planner.language.levels import ANY_FORM, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.scope import is_quantity
from streamhouse.planner.request import ColumnRef, Condition, Question, Related


def value_or_rows(wish: AnsweredWish) -> Question | None:
    """A value whose words say something of rows of another table: "late deliveries", and a reason that is called so."""
    lexicon, tokens = wish.lexicon, wish.tokens
    for mention in wish.mentions:
        words = mention.end - mention.start
        if words < 2 or not mention.of_kind("value") or mention.end > len(tokens) or mention.of_kind("table"):
            continue
        thing = lexicon.mention(tokens, mention.end - 1, 1)
        said = lexicon.mention(tokens, mention.start, words - 1)
        if thing is None or said is None or said.end != mention.end - 1:
            continue
        own = {one.table for one in mention.of_kind("value")}
        rows = thing.tables(WHOLE_NAME) - own - {wish.base.name}
        both = {one.table for one in said.of_kind("column", "value") if one.quality >= ANY_FORM} & rows
        if both and not thing.tables(WHOLE_NAME) & {wish.base.name}:
            table, value = min(both), mention.of_kind("value")[0]
            text = f"'{mention.text}': rows of {table}, or a value of {value.table}.{value.column}?"
            return Question(text=text, phrase=mention.text)
    return None


def part_not_there(wish: AnsweredWish) -> Question | None:
    """Rows that another table has in part, asked there for what they say themselves: "not rush" by shipped orders."""
    tables = wish.lexicon.catalog.tables
    own = {one.name for one in wish.base.columns}
    for one in wish.block.filters:
        if not isinstance(one, Related) or wish.base.name not in tables[one.table].upstream or one.table in wish.things:
            continue
        columns = {part.left.column for part in one.filters
                   if isinstance(part, Condition) and isinstance(part.left, ColumnRef)}  # fmt: skip
        if columns and len(columns) == len(one.filters) and columns <= own:
            name = min(columns)
            text = f"'{name.replace('_', ' ')}': of {wish.base.name}, or only of those rows that {one.table} has?"
            return Question(text=text, phrase=name.replace("_", " "), choices=(f"{wish.base.name}.{name}",))
    return None


def count_or_number(wish: AnsweredWish) -> Question | None:
    """A number of other rows for a count of things: "number of games" by the games that each rating counts."""
    base = wish.base
    for figure in wish.draft.figures:
        head = figure.noun.head if figure.function == "count" and isinstance(figure.noun, Noun) else None
        named = head.tables(WHOLE_NAME) if head is not None else set()
        if head is None or not named or base.name in named:
            continue
        numbers = {one.column for one in head.of_kind("column") if one.table == base.name}
        for measure in wish.block.measures:
            if measure.function == "sum" and isinstance(measure.of, ColumnRef) and measure.of.column in numbers:
                text = f"'{figure.phrase}': rows of {min(named)}, or {base.name}.{measure.of.column}?"
                choices = (f"rows of {min(named)}", f"total {measure.of.column.replace('_', ' ')}")
                return Question(text=text, phrase=figure.phrase, choices=choices)
    return None


def rows_or_number(wish: AnsweredWish) -> Question | None:
    """Rows that are counted, and a number of other rows that is called so: "stops per driver", and stops of a tour."""
    counts = [one for one in wish.block.measures if one.counts_rows]
    if not counts or wish.block.inner is not None:
        return None
    lexicon, base = wish.lexicon, wish.base
    figures = [one.noun for one in wish.draft.figures if one.function == "count" and isinstance(one.noun, Noun)]
    for noun in (*figures, *(one for one in wish.draft.nouns if one.listed and not one.predicate)):
        named = {one.table: one.quality for one in reversed(noun.head.of_kind("table"))}
        for sense in noun.head.of_kind("column") if base.name in named else ():
            table = lexicon.catalog.tables[sense.table]
            number = is_quantity(table.column(sense.column)) and not _is_made_of(table.name, base.name, lexicon)
            if number and sense.quality >= max(WHOLE_NAME, named[base.name]) and _has_groups(wish, table.name):
                text = f"'{noun.text}': rows of {base.name}, or {table.name}.{sense.column}?"
                choices = (f"rows of {base.name}", f"total {sense.column.replace('_', ' ')} of {table.name}")
                return Question(text=text, phrase=noun.text, choices=choices)
    return None


def _is_made_of(table: str, other: str, lexicon: Lexicon) -> bool:
    """Whether rows of a table are made of those of another, so that its numbers say the same of them."""
    upstream = lexicon.catalog.tables[table].upstream if table in lexicon.catalog.tables else ()
    return any(one == other or _is_made_of(one, other, lexicon) for one in upstream)


def _has_groups(wish: AnsweredWish, table: str) -> bool:
    """Whether rows of another table have all keys that results are grouped by."""
    keys = {of[0] for one in wish.block.dimensions if isinstance(one.of, ColumnRef) and not one.of.role
            and (of := wish.base.column(one.of.column).references)}  # fmt: skip
    others = {key.to for key in wish.lexicon.keys.get(table, [])}
    return table != wish.base.name and bool(keys) and keys <= others


def thing_or_measure(wish: AnsweredWish) -> Question | None:
    """A measure for a word that names a table better: "any press" by `press_hours`, where presses are things."""
    base = wish.base.name
    for measure in wish.block.measures:
        naming = [(mention, sense) for mention in wish.mentions for sense in mention.of_kind("measure")
                  if measure.named is not None and (sense.table, sense.measure) == (base, measure.named)]  # fmt: skip
        others = {
            mention.text: table.table
            for mention, sense in naming
            for table in mention.of_kind("table")[:1]
            if table.table != base and table.quality > sense.quality
        }
        if naming and len(others) == len({mention.text for mention, _ in naming}):
            text, table = min(others.items())
            choices = (f"per {text}", str(measure.named).replace("_", " "))
            return Question(text=f"'{text}': rows of {table}, or {base}.{measure.named}?", phrase=text, choices=choices)
    return None
