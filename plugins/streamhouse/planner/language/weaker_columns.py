"""Numbers that a word names by a part of their name, or that stand before rows: "bottles" by broken ones."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.levels import NAME
from streamhouse.planner.language.lexicon import Mention, Sense
from streamhouse.planner.language.scope import is_key_like, is_number, is_quantity, spoken
from streamhouse.planner.language.tokens import singular, stem, stems
from streamhouse.planner.language.words import AGGREGATES, COUNTING, RATES, SHARES
from streamhouse.planner.request import ColumnRef, Question

_FIGURES = frozenset({*AGGREGATES, *RATES, *SHARES, "much", "sum", "total", "most", "least", "top"})


def part_of_column(wish: AnsweredWish) -> Question | None:
    """As in "bottles per order" by broken bottles, where a number of another table is called exactly so."""
    folded = _folded(wish)
    for mention in wish.mentions if folded else ():
        taken = [s for s in mention.of_kind("column") if s.table == wish.base.name and s.column in folded]
        exact = [s for s in mention.of_kind("column") if s.quality >= NAME and s.table != wish.base.name]
        exact = [s for s in exact if _is_plain_number(wish, s)]
        if not taken or not exact or max(s.quality for s in taken) >= NAME:
            continue
        names = tuple(f"{s.table}.{s.column}" for s in (taken[0], exact[0]))
        return Question(text=f"'{mention.text}': {names[0]}, or {names[1]}?", phrase=mention.text, choices=names)
    return None


def _folded(wish: AnsweredWish) -> set[str]:
    """The columns of the base that are added up, averaged or compared."""
    blocks = [one for one in (wish.block, wish.block.inner) if one is not None]
    found = [one.of for block in blocks for one in block.measures if not one.function.startswith("count")]
    return {of.column for of in found if isinstance(of, ColumnRef) and not of.role}


def _is_plain_number(wish: AnsweredWish, sense: Sense) -> bool:
    column = wish.lexicon.catalog.tables[sense.table].column(sense.column)
    return is_number(column) and not is_key_like(column)


def number_of_rows_before(wish: AnsweredWish) -> Question | None:
    """As in "late trips per driver", where a number is called "late", and no word asks for it: which trips?"""
    block = wish.block
    if not block.measures or any(one.counts_rows for one in block.measures) or _FIGURES & set(wish.words):
        return None
    for mention in wish.mentions:
        numbers = [s for s in mention.of_kind("column") if s.table == wish.base.name and _is_plain_number(wish, s)]
        rows = _rows_behind(wish, mention)
        if not numbers or rows is None or mention.of_kind("table", "measure", "value") or mention.is_plural:
            continue
        said = f"{mention.text} {rows.text}"
        text = f"'{said}': which {rows.text} are meant? {wish.base.name}.{numbers[0].column} is a number"
        choice = f"{rows.text} with {spoken(numbers[0].column)} > 0"
        return Question(text=text, phrase=said, choices=(choice,))
    return None


def rows_or_their_number(wish: AnsweredWish) -> Question | None:
    """As in "how many bottles do we have", where wines are called bottles, and a column has their number."""
    base = wish.base
    own = stems(spoken(base.name.rsplit(".", 1)[-1]))
    if not any(one.counts_rows for one in wish.block.measures):
        return None
    for mention in wish.mentions:
        said = tuple(wish.words[max(mention.start - 2, 0) : mention.start])
        stem_of = stem(mention.words[-1]) if mention.words else ""
        if base.name not in mention.tables(NAME) or said not in COUNTING or stem_of in own:
            continue
        numbers = [c.name for c in base.columns if is_quantity(c) and stem_of in _plural_stems(c.name)]
        if len(numbers) == 1:
            phrase = f"{' '.join(said)} {mention.text}"
            text = f"'{phrase}': rows of {base.name}, or the total of {base.name}.{numbers[0]}?"
            rows = spoken(base.name.rsplit(".", 1)[-1])
            choices = (f"{' '.join(said)} {rows}", f"total {spoken(numbers[0])}")
            return Question(text=text, phrase=phrase, choices=choices)
    return None


def _plural_stems(name: str) -> set[str]:
    """The stems of those words of a name that are several: of `bottle_price` there is none."""
    return {stem(part) for part in name.lower().split("_") if singular(part) != part}


def _rows_behind(wish: AnsweredWish, mention: Mention) -> Mention | None:
    """The rows of the base, in the plural, directly behind a name of one word."""
    if len(mention.words) > 1:
        return None
    found = wish.lexicon.mention(wish.tokens, mention.end) if mention.end < len(wish.tokens) else None
    named = (
        found is not None
        and found.is_plural
        and any(s.table == wish.base.name and s.quality >= NAME for s in found.of_kind("table"))
    )
    return found if named else None
