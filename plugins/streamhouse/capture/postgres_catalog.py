"""What tables a PostgreSQL database has, as `streamhouse import` asks."""

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from streamhouse.ingest.tables.postgres_types import natural
from streamhouse.planner.found_tables import FoundColumn, FoundKey, FoundTable

if TYPE_CHECKING:
    import psycopg

_KINDS = {"p": "a partitioned table; its partitions are read instead", "v": "a view", "m": "a materialized view"}
_TABLES = """
SELECT c.oid, n.nspname || '.' || c.relname, c.relkind::text, c.relpersistence::text, c.relreplident::text,
  has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'), obj_description(c.oid, 'pg_class')
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' ORDER BY 2
"""
_COLUMNS = """
SELECT a.attrelid, a.attname, t.typname, t.typcategory::text, t.typtype::text,
  format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated::text <> '', col_description(a.attrelid, a.attnum)
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum
"""
_CONSTRAINTS = """
SELECT k.conrelid, k.contype::text, n.nspname || '.' || c.relname,
  ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u(number, place)
    JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.number ORDER BY u.place),
  ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u(number, place)
    JOIN pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.number ORDER BY u.place)
FROM pg_constraint AS k LEFT JOIN pg_class AS c ON c.oid = k.confrelid LEFT JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE k.contype IN ('p', 'f') AND k.conrelid = ANY(%s) ORDER BY k.conrelid, k.conname
"""  # noqa: E501


def postgres_tables(
    session: "psycopg.Connection", connection: str, is_wanted: Callable[[str], bool]
) -> list[FoundTable]:
    """The tables of a database that are wanted, by name; system schemas have none. Four queries, whatever their number.

    Args:
        session: At the database.
        connection: Its name in streamhouse.yaml.
        is_wanted: Whether `schema.table` is; columns and keys of others are not asked for.
    """
    wanted = {row[0]: row[1:] for row in session.execute(_TABLES) if is_wanted(row[1])}
    readable = [oid for oid, (*_, allowed, _description) in wanted.items() if allowed]
    columns: dict[int, list[FoundColumn]] = defaultdict(list)
    for oid, *column in session.execute(_COLUMNS, (readable,)):
        columns[oid].append(_column(*column))
    primary: dict[int, tuple[str, ...]] = {}
    foreign: dict[int, list[FoundKey]] = defaultdict(list)
    for oid, kind, to, own, theirs in session.execute(_CONSTRAINTS, (readable,)):
        if kind == "p":
            primary[oid] = tuple(own)
        else:
            foreign[oid].append(FoundKey(tuple(own), to, tuple(theirs)))
    return [
        FoundTable(
            name,
            "cdc",
            {"postgres": {"connection": connection, "table": name}},
            tuple(columns[oid]),
            primary.get(oid, ()),
            tuple(foreign[oid]),
            description or "",
            _refusal(kind, persistence, identity, allowed=allowed, key=primary.get(oid, ())),
        )
        for oid, (name, kind, persistence, identity, allowed, description) in wanted.items()
    ]


def _refusal(kind: str, persistence: str, identity: str, *, allowed: bool, key: tuple[str, ...]) -> str:
    if kind != "r":
        return f"it is {_KINDS.get(kind, 'a foreign table')}"
    if not allowed:
        return "the user may not read it: GRANT SELECT, and USAGE on its schema"
    if persistence != "p":
        return "it is unlogged, so the log of the database has no changes of it"
    if not key:
        return "it has no primary key"
    if identity not in ("d", "f"):
        return "of a deleted row the database does not send the primary key: ALTER TABLE … REPLICA IDENTITY DEFAULT"
    return ""


def _column(name: str, *of_type: Any) -> FoundColumn:
    type_, category, kind, written, is_needed, is_generated, description = of_type
    found, why = natural(type_, category, written) if kind in ("b", "e", "r") else (None, "")
    if is_generated:
        found, why = None, "the log of the database has no generated columns; compute it in an action"
    return FoundColumn(
        name, written, found, why or ("" if found else "cannot be captured"), not is_needed, description or ""
    )
