"""As in "average repair time" of rows with three times: from the report, or from the arrival of who repairs?"""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.scope import TIMES, name_stems, spoken
from streamhouse.planner.language.tokens import stem
from streamhouse.planner.request import Between, Question

_LASTS = frozenset({"time", "times", "duration"})
_BEGINS = frozenset(
    stem(word) for word in ("arrived", "arrival", "began", "begun", "begin", "started", "start", "came")
)


def begins_of_times(wish: AnsweredWish) -> Question | None:
    """How long something took that a noun names, of which a further time of the rows may be the begin."""
    for measure in wish.block.measures if wish.block.inner is None else ():
        of = measure.of
        if not isinstance(of, Between) or of.first.role or of.last.role or of.first.column != wish.base.event_time:
            continue
        said = [m for m in wish.mentions for s in m.of_kind("column")
                if s.table == wish.base.name and s.column in {of.first.column, of.last.column}]  # fmt: skip
        if any(s.column == of.first.column for m in said for s in m.of_kind("column") if s.table == wish.base.name):
            continue
        noun = next((m for m in said if wish.word(m.end) in _LASTS), None)
        names = [one.name for one in wish.base.columns]
        between = wish.base.columns[: names.index(of.last.column)]
        others = [c.name for c in between if c.type in TIMES and c.name != of.first.column and name_stems(c) & _BEGINS]
        if noun is not None and others:
            phrase = f"{noun.text} {wish.word(noun.end)}"
            begins = (of.first.column, *others)
            text = f"'{phrase}': from {' or '.join(begins)} to {of.last.column}?"
            choices = tuple(f"time between {spoken(one)} and {spoken(of.last.column)}" for one in begins)
            return Question(text=text, phrase=phrase, choices=choices)
    return None
