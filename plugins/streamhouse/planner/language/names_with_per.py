"""As in "menus with their price per head", where a column is called so: no figure for each head."""

from dataclasses import replace

from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.mentions import tables_named
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import Token


def with_names_with_per(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with the column in place of "price per head", where only one of the things that are named has it."""
    rate = lexicon.rate(tokens, kind="column")
    if rate is None:
        return tokens
    rest = (*tokens[: rate.first], *tokens[rate.end :])
    mentions = [lexicon.mention(rest, at) for at in range(len(rest))]
    table, column = rate.sense.table, rate.sense.column
    if tables_named(filter(None, mentions), WHOLE_NAME) != {table}:
        return tokens
    if not is_number(lexicon.catalog.tables[table].column(column)):
        return tokens
    said = " ".join(token.text for token in tokens[rate.first : rate.end])
    name = f"{table}.{column}"
    draft.assumptions.append(f"'{said}' is {name}")
    put = replace(tokens[rate.first], text=said, word=name, stem=name, kind="name", end=tokens[rate.end - 1].end)
    return (*tokens[: rate.first], put, *tokens[rate.end :])
