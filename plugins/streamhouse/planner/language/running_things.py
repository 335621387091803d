"""As in "running courses": things that go on, where no running total is asked for."""

from dataclasses import replace

from streamhouse.planner.language.empty_columns import when_empty
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Sense
from streamhouse.planner.language.scope import TIMES, name_stems
from streamhouse.planner.language.tokens import Token, singular, stem, stems
from streamhouse.planner.language.words import GRAINS, STATES

_OPENERS = frozenset("number of how many the our all list show me give us which what count and per by".split())


def with_running_things(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "courses that are still running" for "running courses", where a time is empty until they end."""
    words = [token.word for token in tokens]
    if set(words) & {"total", "sum", "totals", "sums", "count", "cumulative", *_TIMED}:
        return tokens
    for at in range(len(tokens) - 1):
        if words[at] != "running" or (at and words[at - 1] not in _OPENERS):
            continue
        found = lexicon.mention(tokens, at + 1)
        plural = found is not None and singular(words[found.end - 1]) != words[found.end - 1]
        if found is None or not plural or not _end(found.of_kind("table"), lexicon):
            continue
        said = tuple(replace(tokens[at], text=one, word=one, stem=stem(one)) for one in ("that", "are", "still"))
        return (*tokens[:at], *tokens[at + 1 : found.end], *said, tokens[at], *tokens[found.end :])
    return tokens


_TIMED = frozenset(word for word in GRAINS if word not in {"hour", "minute"})


def _end(senses: tuple[Sense, ...], lexicon: Lexicon) -> bool:
    """Whether rows of the one table that is named so have a time that is empty while they run."""
    tables = {sense.table for sense in senses if sense.quality >= WHOLE_NAME}
    if len(tables) != 1:
        return False
    ends = {stem(word) for word in STATES["running"]}
    for column in lexicon.catalog.tables[tables.pop()].columns:
        named = name_stems(column)
        if (
            column.type in TIMES
            and when_empty(column)
            and (named & ends or stem("running") in stems(when_empty(column)))
        ):
            return True
    return False
