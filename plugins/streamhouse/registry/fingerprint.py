"""Finds whether a definition changed: by its meaning, not by its layout."""

import json
from hashlib import sha256
from typing import Any

from streamhouse.model.action import Action
from streamhouse.model.flow import Flow
from streamhouse.model.meaning import Meaning
from streamhouse.sql.dialect import parse_query, render


def fingerprint(definition: Action | Flow, *, meaning: bool = True) -> str:
    """Sixteen hex digits of what a definition says.

    Comments, spaces, the order of keys, the case of SQL keywords and the place of the file do not count.

    Args:
        definition: An action or a flow.
        meaning: Whether descriptions and the other parts of what its tables mean count: people read them.

    Raises:
        SqlSyntaxError: the action was made by hand with SQL that does not parse.
    """
    says = definition.model_dump(mode="json", by_alias=True)
    if not meaning:
        _forget_meaning(says)
        for table in says.get("tables", {}).values():
            _forget_meaning(table)
    if isinstance(definition, Action):
        says["sql"] = render(parse_query(definition.sql, definition.sql_at))
    text = json.dumps(says, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:16]


def _forget_meaning(says: dict[str, Any]) -> None:
    for key in Meaning.model_fields:
        says.pop(key, None)
