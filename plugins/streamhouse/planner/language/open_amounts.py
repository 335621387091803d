"""As in "open refunds": rows whose amount is still missing, where a description says that it is empty while open."""

from dataclasses import replace

from streamhouse.planner.language.empty_columns import when_empty
from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token, stem, stems
from streamhouse.planner.language.words import STATES


def with_rows_of_amounts(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "open returns" for "open refunds", where the refund of a return is empty while it is open."""
    for at in range(len(tokens) - 1):
        if tokens[at].word not in STATES or lexicon.mention(tokens, at, 1) is not None:
            continue
        amount = lexicon.mention(tokens, at + 1)
        table = _table_of(amount, tokens[at].word, lexicon) if amount is not None else ""
        if amount is not None and table:
            rows = replace(tokens[at + 1], text=amount.text, word=table, stem=stem(table), kind="name")
            return (*tokens[: at + 1], rows, *tokens[amount.end :])
    return tokens


def _table_of(amount: Mention, state: str, lexicon: Lexicon) -> str:
    """The table whose rows have an amount that is empty in a state; empty: a phrase means something else as well."""
    senses = [sense for sense in amount.senses if sense.quality >= ANY_FORM]
    columns = {(sense.table, sense.column) for sense in senses if sense.kind == "column"}
    if len(columns) != 1 or any(sense.kind not in {"column", "measure"} for sense in senses):
        return ""
    table, name = columns.pop()
    column = lexicon.catalog.tables[table].column(name)
    same = all(sense.table == table for sense in senses)
    return table if same and column.type not in TIMES and stem(state) in stems(when_empty(column)) else ""
