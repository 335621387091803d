"""As in "customers who have not ordered in May": a denied verb for rows that point to a thing, as "without any"."""

from dataclasses import replace

from streamhouse.planner.language.empty_columns import may_be_empty
from streamhouse.planner.language.levels import ANY_FORM, NEARLY_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.without_doer import NO_ONE

_OPENERS = frozenset({"who", "that", "which"})
_DOING = frozenset({"have", "has", "had", "did", "do", "does", "were", "was", "are", "been", "ever"})
_ACTIVE = frozenset({"have", "has", "had", "did", "do", "does", NO_ONE})
_DENIED = frozenset({"not", "never", NO_ONE})
_DENIED_YET = frozenset({"not", "yet"})
_BETWEEN = frozenset({"been", "yet", "ever"})
_NOTHING = frozenset({"anything", "anyone", "any", "at", "all", "yet", "ever", "so", "far"})


def with_missing_rows(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "without any rows" for a denied verb, where the verb names rows of one table."""
    for at in range(1, len(tokens) - 1):
        if tokens[at].word not in _DENIED:
            continue
        first = at
        while first and tokens[first - 1].word in _DOING:
            first -= 1
        first -= bool(first) and tokens[first - 1].word in _OPENERS
        verb = at + 1
        skipped = _DOING if tokens[at].word == NO_ONE else _BETWEEN
        while verb < len(tokens) and tokens[verb].word in skipped:
            verb += 1
        end = verb + 1
        while end < len(tokens) and tokens[end].word in _NOTHING:
            end += 1
        if verb >= len(tokens) or not first or not _over(tokens, end):
            return tokens
        said = {token.word for token in tokens[first:verb]}
        if end < len(tokens) and (not _ACTIVE & said or "been" in said):
            return tokens  # "rooms not booked in May" may be those that stood empty then
        if {token.word for token in tokens[at:end]} >= _DENIED_YET and _may_be_open(tokens, verb, lexicon):
            return tokens  # "tools not returned yet" may have been returned before
        table = _rows(tokens, first - 1, verb, lexicon)
        if not table:
            return tokens
        old = tokens[at]
        put = [replace(old, text=word, word=word, stem=word) for word in ("without", "any")]
        put.append(replace(tokens[verb], word=table, stem=table, kind="name"))
        return (*tokens[:first], *put, *tokens[end:])
    return tokens


def _may_be_open(tokens: tuple[Token, ...], verb: int, lexicon: Lexicon) -> bool:
    """Whether a verb names a time that is empty as long as the deed is still to be done."""
    done = lexicon.mention(tokens, verb, 1)
    tables = lexicon.catalog.tables
    times = (s for s in done.of_kind("column") if s.quality >= ANY_FORM) if done is not None else ()
    return any(may_be_empty(tables[one.table].column(one.column)) for one in times)


def _over(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a wish ends here, or with a time that follows."""
    found = read_period(tokens, at) if at < len(tokens) else None
    end = at + found[1] if found is not None else at
    return all(token.kind == "symbol" for token in tokens[end:])


def _rows(tokens: tuple[Token, ...], thing: int, verb: int, lexicon: Lexicon) -> str:
    """The one table with a key to the things whose rows a verb names by their time; empty: none, or several."""
    named, done = lexicon.mention(tokens, thing, 1), lexicon.mention(tokens, verb, 1)
    if named is None or done is None or tokens[verb].kind != "word":
        return ""
    things = named.tables(NEARLY_NAME)
    own = {sense.table for sense in done.senses if sense.quality >= ANY_FORM}
    if not things or own & things:
        return ""
    tables = lexicon.catalog.tables
    times = [s for s in done.of_kind("column") if s.quality >= ANY_FORM and s.column == tables[s.table].event_time]
    rows = {s.table for s in times if any(key.to in things for key in lexicon.keys.get(s.table, []))}
    rows = rows or _lines(things, {s.table for s in times}, lexicon)
    return rows.pop() if len(rows) == 1 else ""


def _lines(things: set[str], done: set[str], lexicon: Lexicon) -> set[str]:
    """The tables whose rows each are of a thing and of what was done: the lines of orders of "plants never ordered"."""
    tables = lexicon.catalog.tables
    found: set[str] = set()
    for name, keys in lexicon.keys.items():
        of_done = [key for key in keys if key.to in done]
        filled = not any(may_be_empty(tables[name].column(one)) for key in of_done for one in key.columns)
        if of_done and filled and any(key.to in things for key in keys):
            found.add(name)
    found = {one for one in found if not found & set(tables[one].upstream)}
    return {one for one in found if tables[one].event_time is None} or found  # returns are no lines of orders
