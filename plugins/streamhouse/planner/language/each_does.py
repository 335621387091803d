"""As in "how many tickets does each channel sell", "how many litres of blood did we take": a verb of all rows."""

from dataclasses import replace

from streamhouse.planner.language.levels import ANY_FORM, NAME, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, stem, stems
from streamhouse.planner.language.units import unit_of
from streamhouse.planner.language.words import DOING, LIGHT_STEMS, VERB_NOUNS, past_participle

_EACH = frozenset({"each", "every"})
_BEING = frozenset({"was", "were", "is", "are", "has", "have", "been"})
_PRONOUNS = frozenset({"we", "they", "you"})


def with_each_doing(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "number of tickets per channel", where the verb says what was done to every row."""
    words = [token.word for token in tokens]
    if words[:2] != ["how", "many"] or len(tokens) < len(("how", "many", "rows", "does", "each", "thing", "do")):
        return tokens
    measured = _measured(tokens, lexicon) or _measured_by_verb(tokens, lexicon) or _different(tokens, lexicon)
    if measured is not None:
        return measured
    rows = lexicon.mention(tokens, 2)
    tables = rows.tables(WHOLE_NAME) if rows is not None else set()
    if rows is None or not tables or words[rows.end] not in DOING or words[rows.end + 1] not in _EACH:
        return tokens
    first = verb = rows.end + 2
    while verb < len(tokens) and not _done_to_all(tokens[verb], tables, lexicon):
        found = lexicon.mention(tokens, verb, 2)
        if found is None:
            return tokens
        verb = found.end
    if verb in {first, len(tokens)}:
        return tokens
    end = verb + 1 + (words[verb + 1 : verb + 2] == ["us"])
    return (*_said(tokens[0], "number of"), *tokens[2 : rows.end], *_said(tokens[rows.end], "per"),
            *tokens[first:verb], *tokens[end:])  # fmt: skip


def _done_to_all(verb: Token, tables: set[str], lexicon: Lexicon) -> bool:
    """Whether a verb says no more than that rows are there: it names the time of each row, or nothing at all."""
    if verb.kind != "word":
        return False
    known = lexicon.catalog.tables
    named = [s for s in lexicon.meanings((verb.stem,)) if s.table in tables and s.quality >= ANY_FORM]
    if any(sense.column != known[sense.table].event_time for sense in named if sense.kind != "table"):
        return False
    nouns = [s for noun in VERB_NOUNS.get(verb.stem, ()) for s in lexicon.meanings(stems(noun))]
    rows = any(sense.kind == "table" and sense.table in tables for sense in nouns)
    times = any(sense.kind == "column" for sense in named)
    return times or rows or (verb.stem in LIGHT_STEMS and not named)


def _measured(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...] | None:
    """Read "how many litres of blood did we take" as the measure that is called so; its name begins with a unit."""
    found = lexicon.mention(tokens, 2)
    if found is None or unit_of(tokens[2].word) is None or found.end - found.start < len(("of", "blood")):
        return None
    measures = [sense for sense in found.of_kind("measure") if sense.quality >= NAME]
    if len(measures) != 1:
        return None
    end = found.end
    while end < len(tokens) and tokens[end].word in _BEING | DOING | _PRONOUNS:
        end += 1
    end += found.end < end < len(tokens) and tokens[end].stem in LIGHT_STEMS
    name = f"{measures[0].table}.{measures[0].measure}"
    said = " ".join(token.text for token in tokens[: found.end])
    return (replace(tokens[0], text=said, word=name, stem=name, kind="name"), *tokens[end:])


_LONGEST = 5  # words of a thing


def _measured_by_verb(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...] | None:
    """Read "how many kilometres did each van drive" by the measure that is called "kilometres driven"."""
    did = len(("how", "many", "kilometres"))
    if unit_of(tokens[2].word) is None or tokens[did].word not in DOING:
        return None
    for at in range(did + 2, min(did + 2 + _LONGEST, len(tokens))):
        verb = tokens[at].word
        done = past_participle(verb)
        senses = lexicon.meanings((tokens[2].stem, stem(done)))
        names = [one for one in senses if one.kind == "measure" and one.quality >= NAME]
        goes_on = at + 1 < len(tokens) and tokens[at + 1].word in {"up", "out", "off", "down", "back"}
        if len(names) != 1 or tokens[at].kind != "word" or goes_on:
            continue
        first, last = did + 1, at
        if tokens[first].word not in _EACH | _PRONOUNS:
            return None
        who = _said(tokens[first], "per") + tokens[first + 1 : last] if tokens[first].word in _EACH else ()
        name = f"{names[0].table}.{names[0].measure}"
        said = f"{tokens[2].text} {done}"
        return (replace(tokens[2], text=said, word=name, stem=name, kind="name"), *who, *tokens[at + 1 :])
    return None


_LINK = 2  # tables that rows must point to


def _different(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...] | None:
    """Read "how many different wines did each club order" as the wines of each club, where only orders link both."""
    what = lexicon.mention(tokens, 3) if tokens[2].word in {"different", "distinct", "unique"} else None
    did = what.end if what is not None else len(tokens)
    each = [token.word for token in tokens[did : did + 2]]
    who = lexicon.mention(tokens, did + 2, 1) if len(each) == _LINK and each[0] in DOING and each[1] in _EACH else None
    if what is None or who is None or who.end >= len(tokens) or tokens[who.end].kind != "word":
        return None
    linked = [sorted(one.tables(WHOLE_NAME)) for one in (what, who)]
    rows = {one.table for one in lexicon.meanings((tokens[who.end].stem,)) if one.kind == "table"}
    if any(len(one) != 1 for one in linked) or len(rows) != 1:
        return None
    wanted = {one[0] for one in linked}
    links = {name for name, keys in lexicon.keys.items() if wanted <= {key.to for key in keys}}
    if len(wanted) != _LINK or links != rows:
        return None
    name = rows.pop()
    of = (*_said(tokens[who.end], "in"), replace(tokens[who.end], word=name, stem=name, kind="name"))
    return (*_said(tokens[0], "number of"), *tokens[2:did], *of, *_said(tokens[did], "per"),
            *tokens[who.start : who.end], *tokens[who.end + 1 :])  # fmt: skip


def _said(old: Token, text: str) -> tuple[Token, ...]:
    return tuple(replace(old, text=one, word=one, stem=stem(one), kind="word") for one in text.split())
