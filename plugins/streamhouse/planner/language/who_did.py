"""As in "who signed up in March": the people of the one table that has a time of that name."""

from dataclasses import replace

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.language.people import holds_people
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.place import is_participle
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token, stem


def with_who(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "pupils that" for "who" at the begin, where only pupils have a time called "signed up"."""
    if len(tokens) < _SHORTEST or tokens[0].word != "who":
        return tokens
    verb = lexicon.mention(tokens, 1)
    if verb is None or not is_participle(verb) or read_period(tokens, verb.end) is None:
        return tokens
    table = _table_of(verb, lexicon)
    if not table or not holds_people(lexicon.catalog.tables[table], lexicon):
        return tokens
    name = table.rsplit(".", 1)[1]
    draft.assumptions.append(f"'{tokens[0].text}' is read as '{name.replace('_', ' ')}'")
    people = replace(tokens[0], word=table, stem=stem(table), kind="name")
    that = replace(tokens[0], text="that", word="that", stem="that")
    return (people, that, *tokens[1:])


_SHORTEST = 3


def _table_of(verb: Mention, lexicon: Lexicon) -> str:
    """The only table that has a time of a name; empty: there is none, there are several, or rows are called so."""
    senses = [sense for sense in verb.senses if sense.quality >= ANY_FORM]
    tables = lexicon.catalog.tables
    times = [s for s in senses if s.kind == "column" and tables[s.table].column(s.column).type in TIMES]
    roots = {root_of(lexicon, sense.table, sense.column)[0] for sense in times}
    return roots.pop() if len(roots) == 1 and len(times) == len(senses) else ""
