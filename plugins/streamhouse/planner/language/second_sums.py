"""As in "number of orders and total value": a sum beside a number of rows, of which the answer has only the number."""

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.mentions import mentions_of
from streamhouse.planner.language.named_sums import counts
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import Token

_SUMS = frozenset({"value", "amount", "worth", "sum", "total", "volume"})
_JOINED = frozenset({"and", "&", "plus", ","})
_BETWEEN = frozenset({"the", "their", "its", "total", "a", "what", "which"})


def lost_sum(tokens: tuple[Token, ...], draft: Draft, found: Shaped) -> str:
    """The word for a sum behind "and", where all figures of the answer are counts; empty: there is none."""
    measures = found.block.measures
    defined = found.bench.base.measures
    are_counts = all(
        one.function.startswith("count") if one.named is None else counts(defined[one.named]) for one in measures
    )
    if not measures or not are_counts:
        return ""
    read = {place for mention in mentions_of(draft) for place in range(mention.start, mention.end)}
    for at, token in enumerate(tokens):
        if token.word not in _SUMS or at in read:
            continue
        before = at - 1
        while before >= 0 and tokens[before].word in _BETWEEN:
            before -= 1
        if before > 0 and tokens[before].word in _JOINED:
            return token.text
    return ""
