"""As in "by area of the mountain": a word behind a group that only the description of that group has."""

from streamhouse.planner.language.draft import Draft, Noun
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import stem
from streamhouse.planner.request import ColumnRef

_OF = (["of", "the"], ["of", "our"])


def says_of_group(phrase: str, draft: Draft, found: Shaped, lexicon: Lexicon) -> bool:
    """Whether a word behind a group is in the description of its column, and of nothing else; then it is assumed."""
    senses = set(lexicon.described.get(stem(phrase), []))
    if len(senses) != 1 or not phrase.isalpha():
        return False
    sense = senses.pop()
    roles = {join.role for join in found.block.joins if join.table == sense.table}
    roles |= {""} if found.bench.base.name == sense.table else set()
    shown = [one.of for one in found.block.dimensions if isinstance(one.of, ColumnRef)]
    if not any(one.column == sense.column and one.role in roles for one in shown):
        return False
    for group in draft.groups:
        names = isinstance(group, Noun) and any(
            one.table == sense.table and one.column == sense.column for one in group.head.of_kind("column")
        )
        said = [*group.head.words] if names and isinstance(group, Noun) else []
        for at in range(len(draft.words)):
            behind = draft.words[at + len(said) : at + len(said) + 3]
            if (
                said
                and draft.words[at : at + len(said)] == said
                and behind[:2] in _OF
                and behind[2:] == [phrase.lower()]
            ):
                found.bench.places.assume(f"'{phrase}' only describes '{' '.join(said)}'")
                return True
    return False
