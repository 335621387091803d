"""As in "average order value", where not the orders say what they are worth, but their lines."""

from dataclasses import replace

from streamhouse.planner.language.bench import unit_of_column
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.named_sums import sums_of_money
from streamhouse.planner.language.scope import is_number
from streamhouse.planner.language.tokens import Token, stem

_VALUE = frozenset({"value", "worth"})
_AVERAGE = frozenset({"average", "avg", "mean"})


def with_values_of_things(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "average revenue per order" for "average order value"; it is asked where orders have money."""
    for at in range(len(tokens) - 1):
        if tokens[at + 1].word not in _VALUE or tokens[at].kind != "word" or lexicon.mention(tokens, at + 1, 1):
            continue
        thing = lexicon.mention(tokens, at)
        tables = thing.tables(WHOLE_NAME) if thing is not None else set()
        if thing is None or thing.end != at + 1 or len(tables) != 1:
            continue
        table = tables.pop()
        lines = [lexicon.catalog.tables[key.table] for key in lexicon.children.get(table, ())]
        sums = [f"{one.name}.{name}" for one in lines if one.event_time is None for name in sums_of_money(one)]
        own = _money_of(table, lexicon)
        if not sums:
            continue
        said = f"{thing.text} {tokens[at + 1].text}"
        if own or len(sums) > 1 or not at or tokens[at - 1].word not in _AVERAGE:
            figures = (*(one.rsplit(".", 1)[1].replace("_", " ") for one in sums), *own)
            choices = tuple(f"{one} per {thing.text}" for one in figures)
            draft.questions.append((f"'{said}': which figure is meant: {' or '.join(figures)}?", said, choices))
            return tokens
        figure = replace(tokens[at], text=said, word=sums[0], stem=sums[0], kind="name")
        per = replace(tokens[at + 1], text="per", word="per", stem=stem("per"))
        return (*tokens[:at], figure, per, tokens[at], *tokens[at + 2 :])
    return tokens


def _money_of(table: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Names of the numbers of a table that are money."""
    columns = (one for one in lexicon.catalog.tables[table].columns if is_number(one))
    units = {one.name: unit_of_column(one) for one in columns}
    return tuple(
        name.replace("_", " ") for name, unit in units.items() if unit is not None and unit.measures == "money"
    )
