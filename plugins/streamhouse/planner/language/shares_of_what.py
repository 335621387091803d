"""Shares of which a condition may restrict the part, or the whole: "share of checks that were passed in factories"."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.tokens import place_before, singular
from streamhouse.planner.language.words import ARTICLES, is_past_form
from streamhouse.planner.request import ColumnRef, Condition, Cut, Question

_PLACES = frozenset({"for", "in", "at", "from", "on"})


def part_or_whole(wish: AnsweredWish) -> Question | None:
    """A value behind what is true of the part, and that only the part has: is the whole restricted, too?"""
    measures = {one.name: one for one in wish.block.measures}
    for one in wish.block.derived:
        part, whole = measures.get(one.of), measures.get(one.to or "")
        if one.kind != "ratio" or part is None or whole is None or len(part.where) < len(whole.where) + 2:
            continue
        value = next((mention for mention in wish.mentions if _behind_deed(wish, mention)), None)
        if value is not None:
            text = f"'{value.text}': a share of all rows, or only of those of {value.text}?"
            return Question(text=text, phrase=value.text)
    return None


def time_of_part(wish: AnsweredWish) -> Question | None:
    """Periods of a time that only the part of a share has: "refund rate per month" by the month of the refund."""
    cuts = [one.of.of for one in wish.block.dimensions if isinstance(one.of, Cut)]
    parts = {one.of for one in wish.block.derived if one.kind == "ratio"}
    for measure in wish.block.measures:
        for one in measure.where if measure.name in parts else ():
            if isinstance(one, Condition) and one.operator == "is not null" and one.left in cuts:
                name = one.left.column if isinstance(one.left, ColumnRef) else measure.name
                text = f"{wish.base.name}.{name} is empty for the others: which time counts for the periods?"
                return Question(text=text, phrase=name.replace("_", " "))
    return None


def rows_in_sum(wish: AnsweredWish) -> Question | None:
    """As in "share of rides by card in fares": by the rides that have a fare, where their share in the sum is asked."""
    parts = {one.of for one in wish.block.derived if one.kind == "ratio"}
    wheres = [one for measure in wish.block.measures if measure.name in parts for one in measure.where]
    bound = {one.left.column for one in wheres if isinstance(one, Condition) and isinstance(one.left, ColumnRef)
             and one.operator in {">", "is not null"} and one.values in {(), (0,)}}  # fmt: skip
    for mention in wish.mentions if bound else ():
        at = place_before(ARTICLES, wish.tokens, mention.start)
        if wish.word(at - 1) == "in" and any(one.column in bound for one in mention.of_kind("column")):
            text = f"'in {mention.text}': only rows that have one, or a share of their total?"
            return Question(text=text, phrase=f"in {mention.text}", choices=(f"with a {singular(mention.text)} > 0",))
    return None


def _behind_deed(wish: AnsweredWish, mention: Mention) -> bool:
    """Whether a mention is a value behind what was done: "passed in | factories"."""
    at = place_before(ARTICLES, wish.tokens, mention.start)
    if not mention.of_kind("value") or at < 2 or wish.tokens[at - 1].word not in _PLACES:
        return False
    return is_past_form(wish.tokens[at - 2].word)


def share_of_part(wish: AnsweredWish) -> Question | None:
    """As in "share of returned bottles per channel": of the bottles of each channel, or of all that were returned?"""
    shares = {one.of for one in wish.block.derived if one.kind == "share"}
    sums = [one.of for one in wish.block.measures if one.name in shares and one.function == "sum"]
    summed = {of.column for of in sums if isinstance(of, ColumnRef) and not of.role}
    for mention in wish.mentions if summed else ():
        if len(mention.words) < _TWO or not any(s.column in summed for s in mention.of_kind("column")):
            continue
        whole = wish.lexicon.mention(wish.tokens, mention.end - 1, 1)
        senses = whole.of_kind("column") if whole is not None else ()
        others = [s for s in senses if s.table == wish.base.name and s.column not in summed and s.quality >= WHOLE_NAME]
        if others:
            text = f"'{mention.text}': a share of {wish.base.name}.{others[0].column}, or of all {mention.text}?"
            return Question(text=text, phrase=mention.text)
    return None


_TWO = 2
