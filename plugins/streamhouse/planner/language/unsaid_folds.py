"""How numbers are folded, and of how many rows, where no word of a wish says so: each is asked back.

"price per channel" is no sum of prices, "inspections per inspector with average grade" has their number as well.
"""

from collections.abc import Iterator

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.draft import Figure, Lasting, Noun
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.named_sums import is_count
from streamhouse.planner.language.people import holds_people, names_people
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.scope import TIMES, is_number
from streamhouse.planner.language.tokens import singular, stems
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.language.words import ARTICLES
from streamhouse.planner.request import Between, ColumnRef, Condition, Measure, Question

_TOTALS = frozenset("total totals sum sums altogether together combined overall cumulative running spent much".split())
_OF_EACH = frozenset(
    """price rate tariff score grade mark rating age temperature speed mileage level height width depth length size
    salary wage pressure humidity voltage thickness limit""".split()
)
_GROUPING = frozenset({"per", "by"})
_OPENING = frozenset({"list", "show", "display", "give", "me", "us", "get", "find", "please", "all", "our", "which"})
_ONCE = frozenset({"different", "distinct", "unique"})


def sum_of_each(wish: AnsweredWish) -> Question | None:
    """A sum that no word asks for, of a number that is said of single rows: "price per channel"."""
    if set(wish.words) & _TOTALS:
        return None
    for measure in _own_sums(wish):
        of = measure.of
        if isinstance(of, Between):
            said = next((one.phrase for one in wish.draft.figures if _is_between(one)), "")
            if said:
                return _fold_asked(said, "the time of each row")
        if not isinstance(of, ColumnRef):
            continue
        for noun in _bare_nouns(wish):
            word = singular(noun.head.words[-1]) if noun.head.words else ""
            named = any((one.table, one.column) == (wish.base.name, of.column) for one in noun.head.of_kind("column"))
            if named and (word in _OF_EACH or _behind_function(wish, noun)):
                return _fold_asked(noun.head.text, f"{wish.base.name}.{of.column}")
    return None


def _behind_function(wish: AnsweredWish, noun: Noun) -> bool:
    """Whether "and" joins a number to one that has a function: "average rent and heating costs"."""
    start = noun.start
    if start < 2 or wish.word(start - 1) not in {"and", ","}:
        return False
    figures = [one for one in wish.draft.figures if one.function in _SINGLE and isinstance(one.noun, Noun)]
    return any(one.noun.head.end == start - 1 for one in figures if isinstance(one.noun, Noun))


_SINGLE = frozenset({"avg", "min", "max", "median"})


def _own_sums(wish: AnsweredWish) -> Iterator[Measure]:
    for one in wish.block.measures if wish.block.inner is None else ():
        own = isinstance(one.of, Between) or (isinstance(one.of, ColumnRef) and not one.of.role)
        if one.function == "sum" and one.named is None and own:
            yield one


def _is_between(figure: Figure) -> bool:
    """As in "days between order and collection"; "time spent from A to B" says that it is added up."""
    noun = figure.noun
    return isinstance(noun, Lasting) and noun.first is not None and noun.last is not None


def _bare_nouns(wish: AnsweredWish) -> Iterator[Noun]:
    """Nouns for numbers that have no word for a function before them."""
    yield from (one for one in wish.draft.nouns if not one.predicate)
    yield from (one.noun for one in wish.draft.figures if not one.function and isinstance(one.noun, Noun))


def _fold_asked(said: str, of: str) -> Question:
    return Question(text=f"'{said}': the average of {of}, or the total?", phrase=said,
                    choices=(f"average {said}", f"total {said}"))  # fmt: skip


def rows_uncounted(wish: AnsweredWish) -> Question | None:
    """Rows for each of something, of which only another figure is shown: "checks per inspector with average grade".

    So it is with rows in a list of figures, too: "number of employees and orders per shop".
    """
    block, base = wish.block, wish.base
    own = {one.of.column for one in block.dimensions if isinstance(one.of, ColumnRef) and not one.of.role}
    keyed = bool(base.primary_key) and set(base.primary_key) <= own
    if not block.measures or block.inner is not None or wish.found.ranking is not None or keyed:
        return None
    if any(is_count(one, base) for one in block.measures):
        return None
    counted = {
        one.noun.head.end for one in wish.draft.figures if isinstance(one.noun, Noun) and one.function == "count"
    }
    for noun in wish.draft.nouns:
        start, end = noun.head.start, noun.end
        behind = wish.word(end)
        rows = base.name in noun.head.tables(WHOLE_NAME) and noun.head.is_plural and not noun.predicate
        rows = rows and not any(_is_figure(one, noun.head) for one in block.measures)
        joined = start > 1 and wish.word(start - 1) in {"and", ",", "plus"} and start - 1 in counted
        first = _begins(wish, noun) and (behind in _GROUPING or (behind == "," and bool(wish.draft.figures)))
        if rows and (first or joined):
            text = f"'{noun.text}': is their number wanted as well? Only the other figure would be shown"
            return Question(text=text, phrase=noun.text, choices=(f"number of {noun.text}",))
    return None


def joined_counts(wish: AnsweredWish) -> Question | None:
    """Two counts of which one became a condition on the other: "number of applications and interviews per company"."""
    counts = [one for one in wish.block.measures if one.function.startswith("count") and one.named is None]
    values = {str(value) for one in wish.block.filters if isinstance(one, Condition) for value in one.values}
    values |= {"true"} if "True" in values else set()  # of a flag
    if len(counts) != 1 or len(wish.block.measures) != 1 or wish.block.inner is not None:
        return None
    for figure in wish.draft.figures:
        noun = figure.noun if figure.function == "count" and isinstance(figure.noun, Noun) else None
        said = wish.lexicon.mention(wish.tokens, noun.head.start, 1) if noun is not None else None
        if noun is None or said is None or any(one.quality >= WHOLE_NAME for one in said.of_kind("value")):
            continue  # "count dogs and cats" counts both together, or asks: two values of one column
        if wish.base.name not in said.tables(WHOLE_NAME):
            continue
        end = noun.end
        if end + 1 >= len(wish.tokens) or wish.tokens[end].word != "and":
            continue
        for mention in wish.mentions:
            value = any(one.value in values for one in mention.of_kind("value"))
            number = singular(mention.words[-1]) in _OF_EACH if mention.words else False
            if mention.start == end + 1 and value and (mention.is_plural or number) and not mention.of_kind("table"):
                both = f"{noun.text} and {mention.text}"
                text = f"'{both}': the number of each? Only rows that are both would be counted"
                return Question(text=text, phrase=both)
    return None


def _is_figure(measure: Measure, mention: Mention) -> bool:
    """Whether a word for rows is the figure itself: "sales", where revenue is called so."""
    of = measure.of.column if isinstance(measure.of, ColumnRef) else ""
    return any(one.measure == measure.named if measure.named else one.column == of
               for one in mention.of_kind("measure", "column"))  # fmt: skip


def things_without_rows(wish: AnsweredWish) -> Question | None:
    """Things with a number of something, which one number answers: "electric buses with number of repairs"."""
    block = wish.block
    if not block.measures or block.dimensions or block.columns or block.pick is not None or block.inner is not None:
        return None
    for noun in wish.draft.nouns:
        end = noun.end
        joined = wish.word(end)
        tables = noun.head.tables(WHOLE_NAME)
        others = bool(tables) and wish.base.name not in tables and noun.head.is_plural
        if others and not noun.predicate and joined in {"with", "and", "plus", ","} and _begins(wish, noun):
            text = f"'{noun.text}': a row for each of them, or one number for all?"
            return Question(text=text, phrase=f"{noun.text} {joined}", choices=(f"{noun.text} and their",))
    return None


def _begins(wish: AnsweredWish, noun: Noun) -> bool:
    """Whether a noun is what a wish begins with."""
    first = noun.start
    return all(token.word in _OPENING | ARTICLES for token in wish.tokens[:first])


def things_or_deeds(wish: AnsweredWish) -> Question | None:
    """Different things that are counted, where each deed may be: "number of frames sold per shop"."""
    if wish.block.inner is not None or set(wish.words) & _ONCE:
        return None
    deeds = {one.head.start: one.head for one in wish.draft.nouns if one.predicate and is_participle(one.head)}
    counted = _things_counted(wish)
    for figure in wish.draft.figures:
        noun = figure.noun if isinstance(figure.noun, Noun) else None
        deed = deeds.get(noun.head.end) if noun is not None else None
        if noun is None or deed is None or names_people(noun.head.words[-1]):
            continue  # "customers shopped": who did it is counted once
        if counted & noun.head.tables(WHOLE_NAME):
            rows = wish.base.name.split(".")[1].replace("_", " ")
            text = f"'{noun.text} {deed.text}': different {noun.text}, or all {rows}?"
            return Question(text=text, phrase=noun.text, choices=(f"different {noun.text}", rows))
    return None


def _things_counted(wish: AnsweredWish) -> set[str]:
    """The tables of things, not of people, whose keys in rows of the base are counted once each."""
    counts = [one.of for one in wish.block.measures if one.function == "count distinct" and one.named is None]
    own = [of.column for of in counts if isinstance(of, ColumnRef) and not of.role]
    targets = {target[0] for name in own if (target := wish.base.column(name).references) is not None}
    lexicon = wish.lexicon
    return {one for one in targets if not holds_people(lexicon.catalog.tables[one], lexicon)}


_LONG = frozenset({"long", "longer", "longest", "shorter", "shortest", "length", "lengths"})
_LASTING = frozenset({"time", "times", "duration", "take", "takes", "took", "last", "lasts", "lasted", "lasting"})


def long_or_far(wish: AnsweredWish) -> Question | None:
    """As in "the longest tour", where a row has a begin and an end, and a length in km as well."""
    said = next((token for token in wish.tokens if token.word in _LONG), None)
    units = [unit_of(token.word) for token in wish.tokens if token.kind == "word"]
    if said is None or _LASTING & set(wish.words):
        return None
    if any(one is not None and one.measures in {"time", "length"} for one in units):
        return None
    text, base = wish.block.model_dump_json(), wish.base
    lengths = [one for one in base.columns if is_number(one) and (unit := unit_of_column(one)) and
               unit.measures == "length"]  # fmt: skip
    moments = [one for one in base.columns if one.type in TIMES - {"date"}]
    if len(lengths) != 1 or len(moments) < 2:
        return None
    ranked = wish.found.ranking.by if wish.found.ranking is not None else ""
    far = f'"column":"{lengths[0].name}"' in text or ranked == lengths[0].name
    named = {part for said in (lengths[0].name, *lengths[0].synonyms) for part in stems(said)} & {"length", "long"}
    if far == ('"kind":"between"' in text) or (far and named) or _is_called(wish, lengths[0].name):
        return None
    return Question(text=f"'{said.text}': {base.name}.{lengths[0].name}, or the time that it took?", phrase=said.text)


def _is_called(wish: AnsweredWish, column: str) -> bool:
    """Whether words of the wish name a number: "length", where a column is called so."""
    senses = (sense for one in wish.mentions for sense in one.of_kind("column"))
    return any(sense.table == wish.base.name and sense.column == column for sense in senses)
