"""A name of a thing, and its code in the rows that point to it: 'Billing' and BILL are one queue."""

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.lexicon import Mention
from streamhouse.planner.language.place import Placed


def without_codes(found: list[Placed], said: str) -> list[Placed]:
    """Places of a value without the keys that only resemble it, where a thing that they point to is called exactly so.

    The code of another thing ("Billing" and BILL, where two tables have them) stays, and so does one that is spelled as
    the wish says it.
    """
    named = {
        one.reach.table.name
        for one in found
        if one.value.casefold() == said.casefold() and not _target(one) and one.column.type == "string"
    }
    return [one for one in found if _target(one) not in named or _is_said(one, said)]


def _is_said(one: Placed, said: str) -> bool:
    """Whether a code is spelled as the wish says it, or is described so."""
    words = (one.value, *one.column.values.get(one.value, ()))
    return said.casefold() in {word.casefold() for word in words}


def _target(one: Placed) -> str:
    """The table whose rows a key names; empty: the column is no key."""
    table = one.reach.table
    own = table.column(one.of.column)
    if own.references is not None:
        return own.references[0]
    return table.name if own.name in table.primary_key else ""


def names_own_key(table: CatalogTable, head: Mention) -> bool:
    """Whether a mention is the key of a table and no other thing: "call number" of calls, which surveys have, too."""
    own = (s for s in head.of_kind("column") if s.table == table.name and s.column in table.primary_key)
    return not head.of_kind("table", "measure") and any(sense.quality >= NEARLY_NAME for sense in own)
