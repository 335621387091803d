"""What a description says of rows that have no value in a column: "who led it; empty if a guest did"."""

import re

from streamhouse.planner.catalog import CatalogColumn

_EMPTY = re.compile(r"\b(?:empty|null|missing|blank|unset|unknown|nobody|none|nothing)\b")


def may_be_empty(column: CatalogColumn) -> bool:
    """Whether a description says that some rows have no value in a column."""
    return _EMPTY.search(column.description.lower()) is not None


def when_empty(column: CatalogColumn) -> str:
    """What a description says behind the word for "empty", in lower case; empty: it says nothing of such rows."""
    description = column.description.lower()
    found = _EMPTY.search(description)
    return description[found.end() :] if found is not None else ""
