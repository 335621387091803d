"""As in "on the pro plan", "in the brass section": the name of a column behind one of its values says no more."""

from dataclasses import replace

from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.tokens import Token, place_before, place_behind
from streamhouse.planner.language.words import ARTICLES_OF_ALL, GRAINS, STATES, VALUE_LIKE

_PLACING = frozenset({"on", "in", "of", "with", "from", "at", "for", "under", "within", "and", "or", "our", "by"})
_MEANING = frozenset({*GRAINS, *STATES, *VALUE_LIKE})  # words that alone say something else


def with_plain_values(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens without the names of columns that only say of which column a value is.

    "Calls of customers on the max plan" are those on "max", where no other column has such a value. A name that goes
    on to another name, such as "plan price", or that is grouped by, stays.
    """
    at = 0
    while at < len(tokens):
        if _is_verb_before(tokens, at, lexicon):
            tokens = (*tokens[:at], replace(tokens[at], text="with", word="with", stem="with"), *tokens[at + 1 :])
        end = _designated(tokens, at, lexicon)
        if end is not None:
            tokens = (*tokens[:at], *tokens[end:])
        else:
            at += 1
    return tokens


def _is_verb_before(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> bool:
    """Whether a verb names the column of the value behind it: "musicians playing the violin"."""
    if not at or not tokens[at].word.endswith("ing") or tokens[at].kind != "word":
        return False
    name = lexicon.mention(tokens, at, 1)
    columns = {(s.table, s.column) for s in name.of_kind("column")} if name is not None else set()
    if name is None or not columns or len(columns) != len(name.senses):
        return False
    begin = place_behind(ARTICLES_OF_ALL, tokens, at + 1)
    value = lexicon.mention(tokens, begin) if begin < len(tokens) else None
    certain = [sense for sense in value.senses if sense.quality >= NEARLY_NAME] if value is not None else []
    meant = {(sense.table, sense.column) for sense in certain if sense.kind == "value"}
    return bool(meant) and meant == columns and all(sense.kind == "value" for sense in certain)


def _designated(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> int | None:
    """Where the name of a column ends that stands at a token, behind a value of that column alone."""
    name = lexicon.mention(tokens, at)
    named = name.of_kind("column") if name is not None else ()
    columns = {(s.table, s.column) for s in named if s.quality >= NEARLY_NAME}
    if name is None or not columns or name.of_kind("value"):
        return None
    value = _value_before(tokens, at, lexicon)
    if value is None or not _placed(tokens, value.start) or not _ends(tokens, name.end, lexicon):
        return None
    if any(token.possessive for token in tokens[value.start : name.end]):
        return None
    meant = {(s.table, s.column) for s in value.senses if s.quality >= NEARLY_NAME}
    own = {one for one in meant if one in columns}
    things = name.tables(NEARLY_NAME)
    return name.end if meant and meant == own and not things else None


def _value_before(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> Mention | None:
    """The longest phrase that ends before a token and is nothing but a value."""
    for first in range(max(0, at - 4), at):
        found = lexicon.mention(tokens, first, at - first)
        if (
            found is not None
            and found.end == at
            and found.senses[0].kind == "value"
            and not _MEANING & set(found.words)
        ):
            certain = [sense for sense in found.senses if sense.quality >= NEARLY_NAME]
            return found if all(sense.kind == "value" for sense in certain) else None
    return None


def _placed(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a value stands behind a preposition that says where rows are, and not behind "how many" or "per"."""
    at = place_before(ARTICLES_OF_ALL, tokens, at)
    return at > 0 and tokens[at - 1].word in _PLACING


def _ends(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> bool:
    """Whether a name ends here: no further name, and no bound, follows it."""
    if at >= len(tokens) or tokens[at].kind == "symbol":
        return True
    if tokens[at].word in {"over", "above", "below", "under", "more", "less", "is", "are", "between", "of"}:
        return False
    following = lexicon.mention(tokens, at)
    return (
        following is None
        or any(s.quality >= NEARLY_NAME for s in following.of_kind("table"))
        or _is_preposition(tokens[at])
    )


def _is_preposition(token: Token) -> bool:
    return token.word in {"by", "per", "in", "for", "each", "every", "who", "that", "with", "on", "at", "from", "and"}
