"""As in "the heaviest dog", "tips per waiter", "the three saws with the most repairs": a value said for its things."""

from dataclasses import replace

from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention, Sense
from streamhouse.planner.language.numbers import read_number
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.language.people import holds_people
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token, stem, stems
from streamhouse.planner.language.words import SUPERLATIVES

_OF_COUNTS = frozenset({"most", "least", "fewest", "top", "bottom", "best", "worst"})
_EACH = frozenset({"per", "each", "every"})
_OPENING = frozenset({"list", "show", "give", "me", "us", "all", "the", "our", "which", "what", "find", "get", "any"})
_ENDS = frozenset({"", ",", ".", "?", "!", "with", "by", "in", "of", "from", "at", "that", "who", "which", "per", "on"})


def with_things_of_values(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "dog animals" for "dogs" behind a superlative, or a number that a superlative follows."""
    for at in range(len(tokens)):
        value = lexicon.mention(tokens, at)
        following = tokens[value.end].word if value is not None and value.end < len(tokens) else ""
        ranked = following in _ENDS and _ranks(tokens, at, lexicon)
        grouped = following in _ENDS and value is not None and _groups(tokens, value)
        told = value is not None and (_did(tokens, value, lexicon) or _is_flagged(tokens, value, lexicon))
        if value is None or not (ranked or grouped or told):
            continue
        table = _only_table(value.senses, lexicon, any_form=grouped and not (ranked or told))
        if not table or (grouped and not ranked and not _is_kind(value, table, lexicon)):
            continue
        noun = table.rsplit(".", 1)[1]
        name = replace(tokens[value.end - 1], text=noun, word=noun, stem=stem(noun))
        return (*tokens[: value.end], name, *tokens[value.end :])
    return tokens


def _ranks(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> bool:
    """Whether what stands here is ranked: "oldest | dog", "three | saws with the most repairs"."""
    if not at:
        return False
    before = tokens[at - 1]
    if before.word in SUPERLATIVES and before.word not in _OF_COUNTS:
        return True
    if before.word in {"expensive", "costly"} and at > 1 and tokens[at - 2].word in {"most", "least"}:
        return True
    number = read_number(tokens, at - 1)
    if number is None or number[1] != 1:
        return False
    named = lexicon.mention(tokens, at)
    behind = tokens[named.end : named.end + 4] if named is not None else ()
    return bool(behind) and behind[0].word == "with" and any(token.word in SUPERLATIVES for token in behind)


def _groups(tokens: tuple[Token, ...], value: Mention) -> bool:
    """Whether there is a figure for each thing with a value: "tips per waiter", "stoppages of each circular saw"."""
    return value.start > 0 and tokens[value.start - 1].word in _EACH and not value.is_plural


def _is_kind(value: Mention, table: str, lexicon: Lexicon) -> bool:
    """Whether a value is a word for things of a table: a waiter of people, a circular saw, and no floor of a room."""
    rows = lexicon.catalog.tables[table]
    named = lexicon.meanings(stems(value.words[-1]), (value.words[-1],))
    thing = any(one.kind == "table" and one.table == table and one.quality >= WHOLE_NAME for one in named)
    return (thing and rows.event_time is None) or holds_people(rows, lexicon)


def _did(tokens: tuple[Token, ...], value: Mention, lexicon: Lexicon) -> bool:
    """Whether a wish begins with several things, and says next what they did, or was done: "dogs born in 2020"."""
    first, end = value.start, value.end
    while first and _is_value(lexicon.mention(tokens, first - 1, 1)):
        first -= 1  # "female dogs"
    if not value.is_plural or any(token.word not in _OPENING for token in tokens[:first]):
        return False
    linked = end < len(tokens) and tokens[end].word in {"that", "who", "which"}
    done = lexicon.mention(tokens, end + linked, 1) if end + linked < len(tokens) else None
    columns = done.of_kind("column") if done is not None and is_participle(done) else ()
    tables = lexicon.catalog.tables
    return any(tables[sense.table].column(sense.column).type in TIMES for sense in columns)


def _is_flagged(tokens: tuple[Token, ...], value: Mention, lexicon: Lexicon) -> bool:
    """Whether a wish begins with things that are so, for each of something: "insured dogs per town"."""
    before = lexicon.mention(tokens, value.start - 1, 1) if value.start else None
    following = tokens[value.end].word if value.end < len(tokens) else ""
    if before is None or following not in {"per", "by"} or not value.is_plural:
        return False
    if any(token.word not in _OPENING for token in tokens[: value.start - 1]):
        return False
    own = {sense.table for sense in value.of_kind("value")}
    said = [one for one in before.senses if one.column and one.table in own and one.quality >= WHOLE_NAME]
    return bool(said) and all(map(lexicon.is_flag, said))


def _is_value(found: Mention | None) -> bool:
    return found is not None and found.senses[0].kind == "value"


def _only_table(senses: tuple[Sense, ...], lexicon: Lexicon, *, any_form: bool) -> str:
    """The table whose things a value is said for: all that is called so is one value of one column; empty: not so.

    Args:
        senses: What the value may mean.
        lexicon: Knows the tables.
        any_form: Whether the name of the table may also be said in another form than the catalog's.
    """
    certain = [sense for sense in senses if sense.quality >= WHOLE_NAME]
    if not certain or any(sense.kind != "value" for sense in certain):
        return ""
    roots = {root_of(lexicon, sense.table, sense.column) for sense in certain}
    if len(roots) != 1:
        return ""
    table, column = roots.pop()
    found = lexicon.catalog.tables.get(table)
    known = found is not None and bool(found.column(column).values) and len(found.primary_key) == 1
    noun = table.rsplit(".", 1)[-1]
    named = (lexicon.meanings((stem(noun),)) if any_form else lexicon.meanings((stem(noun),), (noun,))) if known else ()
    return table if any(one.kind == "table" and one.table == table for one in named) else ""
