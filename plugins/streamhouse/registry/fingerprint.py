"""Tells whether a definition changed: by what it says, not by how it is laid out."""

import json
from hashlib import sha256

from streamhouse.model.action import Action
from streamhouse.model.flow import Flow
from streamhouse.sql.dialect import parse_query, render


def fingerprint(definition: Action | Flow) -> str:
    """Sixteen hex digits of what a definition says.

    Comments, spaces, the order of keys, the case of SQL keywords and the place of the file do not count. The
    description does: people read it.

    Raises:
        SqlSyntaxError: the action was made by hand with SQL that does not parse.
    """
    says = definition.model_dump(mode="json", by_alias=True)
    if isinstance(definition, Action):
        says["sql"] = render(parse_query(definition.sql, definition.sql_at))
    text = json.dumps(says, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:16]
