"""Counts that may be of things, or of each time that something was done with them."""

from streamhouse.planner.language.bench import Bench
from streamhouse.planner.language.draft import Noun, When
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.place import UnclearError, is_participle
from streamhouse.planner.language.tokens import stem

_FIGURE_BY_GROUP = 3
"""So many words a figure, "by" and a group have at least."""


def refuse_done_to(bench: Bench, noun: Noun) -> None:
    """Things before a participle that rows are called by, and tables that are called by their groups: what is counted?

    Raises:
        UnclearError: as for "number of films shown", where a row is one show, or "total revenue by household", where a
            table is called `revenue_by_household`.
    """
    _refuse_figures_by_groups(bench, noun)
    word = noun.head.words[-1] if noun.head.words else ""
    if not is_participle(noun.head) or stem(word) == word:
        return
    things = [one for one in noun.around if one.end == noun.head.start and one.of_kind("table")]
    if things and not bench.places.is_base(things[0]):
        raise _asked(bench, things[0].text, word)


def _refuse_figures_by_groups(bench: Bench, noun: Noun) -> None:
    """A figure by groups that is a table's name, too: to count the rows of the table is hardly meant."""
    words = noun.head.text.split()
    if len(words) < _FIGURE_BY_GROUP or words[-2] not in {"by", "per"} or not noun.head.of_kind("table"):
        return
    figure, group = " ".join(words[:-2]), words[-1]
    text = f"'{noun.head.text}' is also the table {bench.base.name}: is {figure} for each {group} meant?"
    raise UnclearError(text, noun.head.text, (f"{figure} for each {group}",))


def _asked(bench: Bench, things: str, done: str) -> UnclearError:
    rows = bench.base.name.split(".")[1].replace("_", " ")
    text = f"'{things} {done}': different {things}, or all {rows}?"
    return UnclearError(text, things, (f"different {things}", rows))


def refuse_twice_meant(bench: Bench, noun: Noun) -> None:
    """Things that something was done with count once, or each time: a wish may mean both, so it is asked back.

    Raises:
        UnclearError: as for "how many books were borrowed".
    """
    words = bench.draft.words
    for verb in _verbs(bench):
        done = verb.words[0] if len(verb.words) == 1 else ""
        passive = done in words and words[words.index(done) - 1] in {"were", "was", "been", "got"}
        if passive and (bench.places.is_base(verb) or _is_when(bench, verb)):
            raise _asked(bench, noun.text, done)


def _verbs(bench: Bench) -> list[Mention]:
    """What is said to be done: alone, or at a time, as "played in May"."""
    alone = [one.head for one in bench.draft.nouns if one.predicate]
    return alone + [one.of for one in bench.draft.filters if isinstance(one, When) and one.of is not None]


def _is_when(bench: Bench, verb: Mention) -> bool:
    """Whether a verb says when rows of the base came to be: "were played", where that time is `played_at`."""
    return any(s.table == bench.base.name and s.column == bench.base.event_time for s in verb.of_kind("column"))
