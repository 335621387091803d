"""As in "how many jars does Hotel Krone buy": the verb of a value whose column is called for who does it, a buyer."""

from dataclasses import replace

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.language.words import DOING

_ENDINGS = ("er", "r", "or")


def with_agents(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "of Hotel Krone" for "does Hotel Krone buy", where a column is the buyer."""
    for at in range(1, len(tokens) - 2):
        if tokens[at].word not in DOING:
            continue
        value = lexicon.mention(tokens, at + 1)
        if value is None or value.end >= len(tokens) or tokens[value.end].kind != "word":
            continue
        verb = tokens[value.end]
        place = _agent(verb.word, value, lexicon)
        if place:
            draft.assumptions.append(f"'{verb.text}' says that {place} is '{value.text}'")
            of = replace(tokens[at], text="of", word="of", stem="of")
            return (*tokens[:at], of, *tokens[at + 1 : value.end], *tokens[value.end + 1 :])
    return tokens


def _agent(verb: str, value: Mention, lexicon: Lexicon) -> str:
    """The one column of a value that is called for who does what a verb says; empty: there is none."""
    if any(one.kind != "value" and one.quality >= WHOLE_NAME for one in value.senses):
        return ""
    agents = {f"{verb}{ending}" for ending in _ENDINGS}
    columns = {(one.table, one.column) for one in value.of_kind("value") if one.quality >= WHOLE_NAME}
    if len(columns) != 1:
        return ""
    table, name = columns.pop()
    column = lexicon.catalog.tables[table].column(name)
    said = {word for text in (column.name, *column.synonyms) for word in text.lower().replace("_", " ").split()}
    return f"{table}.{name}" if agents & said else ""
