"""As in "revenue per day over 100 euros", and "when repairs of one day cost more than 800": bounds before groups."""

from dataclasses import replace

from streamhouse.planner.language.bounds_said import bound_at
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import COUNTING, GRAINS

_LONGEST = 4  # words of the name of a figure
_IS = frozenset({"is", "are", "was", "were", "goes", "go", "gets", "get", "drops", "drop", "falls", "fall", "rises"})
_ONE = frozenset({"one", "a", "any", "single", "each", "every"})


def with_bounds_first(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "revenue over 100 euros per day" for "revenue per day over 100 euros"."""
    for at in range(1, len(tokens) - 3):
        group = _group(tokens, at, lexicon)
        if group is None or not _is_figure(tokens, at, lexicon):
            continue
        said, end = group
        first = end
        while first < len(tokens) and tokens[first].word in _IS:
            first += 1
        last = _bound(tokens, first)
        if last is not None and all(token.kind == "symbol" for token in tokens[last:]):
            return (*tokens[:at], *tokens[first:last], *said, *tokens[last:])
    return tokens


def with_one_period_last(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "repairs cost more than 800 euros in one day" for "repairs of one day cost more …"."""
    for at in range(1, len(tokens) - 4):
        words = [token.word for token in tokens[at : at + 3]]
        if words[:1] not in (["of"], ["in"], ["within"]) or words[1] != "one" or words[2] not in GRAINS:
            continue
        rows = lexicon.mention(tokens, at - 1, 1)
        verb = lexicon.mention(tokens, at + 3, 1)
        if rows is None or verb is None or not rows.tables(WHOLE_NAME) or not verb.of_kind("column", "measure"):
            continue
        last = _bound(tokens, verb.end)
        if last is not None and all(token.kind == "symbol" for token in tokens[last:]):
            within = replace(tokens[at], text="in", word="in", stem="in")
            return (*tokens[:at], *tokens[at + 3 : last], within, *tokens[at + 1 : at + 3], *tokens[last:])
    return tokens


def _group(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> tuple[tuple[Token, ...], int] | None:
    """The group that begins at a token, as "per day", and where it ends; None: none does."""
    word, following = tokens[at].word, tokens[at + 1].word
    if word == "per" and following in GRAINS:
        return tokens[at : at + 2], at + 2
    if word == "of" and following in _ONE and tokens[at + 2].word in GRAINS:
        per = replace(tokens[at], text="per", word="per", stem=stem("per"))
        return (per, tokens[at + 2]), at + 3
    found = lexicon.mention(tokens, at + 1) if word == "per" else None
    if found is None or not found.of_kind("table", "column"):
        return None
    return tokens[at : found.end], found.end


def _is_figure(tokens: tuple[Token, ...], end: int, lexicon: Lexicon) -> bool:
    """Whether the words before a place are a measure, or a number of rows."""
    for start in range(max(end - _LONGEST, 0), end):
        found = lexicon.mention(tokens, start)
        if found is None or found.end != end:
            continue
        counted = tuple(token.word for token in tokens[max(start - 2, 0) : start]) in COUNTING
        if counted and found.tables(WHOLE_NAME):
            return True
        measure = any(one.quality >= WHOLE_NAME for one in found.of_kind("measure"))
        return measure and not found.of_kind("table", "value")
    return False


def _bound(tokens: tuple[Token, ...], at: int) -> int | None:
    """Where a comparison with a number that begins at a token ends; None: none does, as in "per day over 7 days"."""
    bound = bound_at(tokens, at)
    unit = bound[1].unit if bound is not None else None
    return None if bound is None or (unit is not None and unit.measures == "time") else bound[0]
