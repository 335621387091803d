"""Ready actions: texts of action files over a table of the user, with examples. Pure.

What is written is an ordinary action: plain Spark SQL with the user's columns, which the user may change.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any

from streamhouse.errors import ArgumentsError, did_you_mean
from streamhouse.model.table import Column

PORT = "rows"
_SAMPLES: dict[str, tuple[Any, ...]] = {
    "boolean": (True, False, True),
    "string": ("a", "b", "c"),
    "date": ("2026-01-01", "2026-01-02", "2026-01-03"),
    "timestamp": ("2026-01-01 10:00:00", "2026-01-01 10:20:00", "2026-01-01 12:00:00"),
    "timestamp_ntz": ("2026-01-01 10:00:00", "2026-01-01 10:20:00", "2026-01-01 12:00:00"),
}
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TIMES = ("date", "timestamp", "timestamp_ntz")
Row = dict[str, Any]


@dataclass(frozen=True)
class ReadyRequest:
    """What a person asked for.

    Attributes:
        columns: Of the table that the action reads.
        key: By which rows belong together.
        order: Column that says which row is newer, or when it happened.
        chosen: Further columns: to be masked, unpivoted, summed.
        fields: Path in a JSON text → type.
        op: Column with the kind of a change.
        payload: Column with JSON text.
        sequence: Column that says which of several rows at one `order` is newer; empty: those with higher values.
    """

    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    order: str = ""
    chosen: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    op: str = ""
    payload: str = ""
    sequence: str = ""

    @property
    def types(self) -> dict[str, str]:
        """Column → type."""
        return {column.name: column.type for column in self.columns}

    @property
    def rest(self) -> tuple[str, ...]:
        """Columns that are neither key, order, sequence nor kind of change."""
        return tuple(n for n in self.types if n not in (*self.key, self.order, self.sequence, self.op))

    @property
    def places(self) -> tuple[str, ...]:
        """Columns that say which row is newer, in their order."""
        return tuple(filter(None, (self.order, self.sequence)))


@dataclass(frozen=True)
class ActionBody:
    """A ready action with the user's columns."""

    sql: str
    key: tuple[str, ...] = ()
    event_time: str = ""
    given: tuple[Row, ...] = ()
    expect: tuple[Row, ...] = ()
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadyAction:
    """One that can be added.

    Attributes:
        name: Of it.
        kind: Which layer it writes: `clean` or `aggregate`.
        description: In one sentence.
        needs: Options that it cannot do without: `key`, `order`, `chosen`, `fields`, `op`, `payload`.
        make: Writes it.
        ordered: Whether a row without a key or an order has no place in the result: `validate` refuses such tables.
    """

    name: str
    kind: str
    description: str
    needs: tuple[str, ...]
    make: Callable[[ReadyRequest], ActionBody]
    ordered: bool = False


def sample(type_: str, number: int) -> Any:
    """A value of a type, number 0 to 2, each another one; None: values of the type are not written in examples.

    Example:
        >>> sample("bigint", 1), sample("decimal(9,2)", 0), sample("array<int>", 0)
        (2, 1, None)
    """
    if type_.startswith(_NUMBERS):
        return number + 1
    return _SAMPLES[type_][number] if type_ in _SAMPLES else None


def text_of(ready: ReadyAction, name: str, wanted: ReadyRequest) -> str:
    """The file of an action.

    Args:
        ready: What it is made of.
        name: Of the new action.
        wanted: The user's columns.

    Raises:
        ArgumentsError: an option is missing, or names a column that the table lacks.
    """
    _check(ready, wanted)
    body = ready.make(wanted)
    used = {n: t for n, t in wanted.types.items() if f"`{n}`" in body.sql or n in body.sql}
    always = (*wanted.key, *wanted.places) if ready.ordered else ()
    declared = {n: f"{t} not null" if n in always else t for n, t in used.items()}
    output = {"primary_key": list(body.key)} if body.key else {}
    if body.event_time:
        output["event_time"] = body.event_time  # type: ignore[assignment]
    lines = [
        f"action: {name}",
        "version: 1.0.0",
        f"step: {ready.kind}",
        f"description: {_yaml(ready.description)}",
        f"inputs: {_yaml({PORT: declared})}",
        *([f"params: {body.params and _params(body.params)}"] if body.params else []),
        *([f"output: {_yaml(output)}"] if output else []),
        "examples:",
        "  - given:",
        f"      {PORT}:",
        *[f"        - {_yaml({n: v for n, v in row.items() if n in used})}" for row in body.given],
        "    expect:",
        *[f"      - {_yaml(row)}" for row in body.expect],
    ]
    return "/* ---\n" + "\n".join(lines) + f"\n--- */\n{body.sql}\n"


def _yaml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)  # JSON is YAML


def _params(params: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name}: {text}" for name, text in params.items()) + "}"


def _check(ready: ReadyAction, wanted: ReadyRequest) -> None:
    for need in ready.needs:
        if not getattr(wanted, need):
            option = {"chosen": "--column", "fields": "--field", "payload": "--json-column"}.get(need, f"--{need}")
            raise ArgumentsError(
                f"{ready.name} needs {option}", hint=f"see: streamhouse action add {ready.name} --help"
            )
    named = [*wanted.key, *wanted.chosen, *wanted.places, *filter(None, (wanted.op, wanted.payload))]
    for name in named:
        if name not in wanted.types:
            known = list(wanted.types)
            raise ArgumentsError(f"the table has no column '{name}'", hint=did_you_mean(name, known, ", ".join(known)))
    if wanted.sequence and ready.name not in _OF_CHANGES:
        hint = f"it is for {', '.join(_OF_CHANGES)}"
        raise ArgumentsError(f"{ready.name} has no --sequence", hint=hint)
    if "order" in ready.needs and ready.name in _BY_TIME and wanted.types[wanted.order] not in _TIMES[1:]:
        raise ArgumentsError(
            f"--order {wanted.order} is {wanted.types[wanted.order]}", hint="name a column that is a timestamp"
        )


def _list(names: Sequence[str], margin: str = "  ") -> str:
    return f",\n{margin}".join(names)


def _row(wanted: ReadyRequest, number: int, **other: Any) -> Row:
    """A row of samples; the key is the first sample unless `other` has it."""
    row = {n: sample(t, 0 if n in wanted.key else number) for n, t in wanted.types.items()}
    return {n: v for n, v in (row | other).items() if v is not None}


def _only(row: Row, names: Sequence[str]) -> Row:
    return {name: row.get(name) for name in names}


def _newest(wanted: ReadyRequest, names: Sequence[str], condition: str) -> str:
    """The newest row of each key; of rows that are equally new one that is no delete, and whose values are highest."""
    ties = [f"{n} DESC" for n in (*wanted.places, *names) if n not in wanted.key and _orders(wanted.types[n])]
    if wanted.op:
        ties.insert(len(wanted.places), _is_delete(wanted))
    shown = _list([*wanted.key, *names])
    inner = _list([*wanted.key, *names, *([wanted.op] if wanted.op else [])], "    ")
    return (
        f"SELECT\n  {shown}\nFROM (\n  SELECT\n    {inner},\n"
        f"    ROW_NUMBER() OVER (PARTITION BY {', '.join(wanted.key)} ORDER BY {', '.join(dict.fromkeys(ties))}) "
        f"AS place\n  FROM {PORT}\n) AS newest\nWHERE {condition}"
    )


def _is_delete(wanted: ReadyRequest) -> str:
    """A condition that is never NULL: a change of no kind is no delete."""
    return f"{wanted.op} <=> 'd'"


def _orders(type_: str) -> bool:
    return not type_.startswith(("map<", "variant"))


def _deduplicate(wanted: ReadyRequest) -> ActionBody:
    names = [*wanted.places, *wanted.rest]
    old, new = _row(wanted, 0), _row(wanted, 1)
    expect = (_only(new, [*wanted.key, *names]),)
    return ActionBody(_newest(wanted, names, "place = 1"), wanted.key, given=(new, old, new), expect=expect)


def _cdc_apply(wanted: ReadyRequest) -> ActionBody:
    names = [*wanted.places, *wanted.rest]
    old, new = _row(wanted, 0, **{wanted.op: "c"}), _row(wanted, 1, **{wanted.op: "u"})
    others = {name: sample(wanted.types[name], 1) for name in wanted.key}
    created_row, deleted_row = (
        _row(wanted, 0, **others, **{wanted.op: "c"}),
        _row(wanted, 2, **others, **{wanted.op: "d"}),
    )
    sql = _newest(wanted, names, f"place = 1 AND NOT {_is_delete(wanted)}")
    return ActionBody(
        sql, wanted.key, given=(new, old, deleted_row, created_row), expect=(_only(new, [*wanted.key, *names]),)
    )


def _scd2(wanted: ReadyRequest) -> ActionBody:
    at = wanted.order
    first, late, last = (_row(wanted, number, **_kind(wanted, "u")) for number in (0, 1, 2))
    end = last | {at: "2026-01-01 13:00:00"} | _kind(wanted, "d")  # without kinds of changes: the same values again
    versions = [(first, late), (late, last), (last, end if wanted.op else None)]
    expect = tuple(
        _only(one, [*wanted.key, *wanted.rest])
        | {"valid_from": one[at], "valid_to": follower and follower[at], "is_current": follower is None}
        for one, follower in versions
    )
    given = (last, first, late, end, late)
    return ActionBody(_history(wanted), (*wanted.key, "valid_from"), given=given, expect=expect)


def _kind(wanted: ReadyRequest, op: str) -> Row:
    return {wanted.op: op} if wanted.op else {}


def _history(wanted: ReadyRequest) -> str:
    """The versions of each key: of the changes at one time one, none that changes nothing, and no delete."""
    key, at, deleted = ", ".join(wanted.key), wanted.order, [_is_delete(wanted)] if wanted.op else []
    names = [*wanted.key, *wanted.rest, *wanted.places, *([wanted.op] if wanted.op else [])]
    values = f"STRUCT({', '.join([*wanted.rest, *deleted])})"
    # One change of each time is left, which a query over it does not show; so each order has the columns of `ties`.
    ties = [*wanted.places[1:], *deleted, *(name for name in wanted.rest if _orders(wanted.types[name]))]
    highest = ", ".join(f"{one} DESC" for one in ties) or at
    window = f"OVER (PARTITION BY {key} ORDER BY {', '.join([at, *ties])})"
    until = f"LEAD({at}) {window}"
    place = f"ROW_NUMBER() OVER (PARTITION BY {key}, {at} ORDER BY {highest}) AS place"
    same = f"{values} <=> LAG({values}) {window} AS same"
    sql = _query([*names, place], PORT)
    sql = _query([*names, same], _inner(sql, "changes"), "place = 1")
    end = "valid_to" if deleted else until
    shown = [*wanted.key, *wanted.rest, f"{at} AS valid_from", f"{until} AS valid_to", f"{end} IS NULL AS is_current"]
    if not deleted:
        return _query(shown, _inner(sql, "versions"), "NOT same")
    sql = _query([*names, f"{until} AS valid_to"], _inner(sql, "versions"), "NOT same")
    shown[-2] = "valid_to"
    return _query(shown, _inner(sql, "history"), f"NOT {deleted[0]}")


def _query(shown: Sequence[str], read: str, condition: str = "") -> str:
    where = f"\nWHERE {condition}" if condition else ""
    return f"SELECT\n  {_list(shown)}\nFROM {read}{where}"


def _inner(sql: str, name: str) -> str:
    return "(\n" + indent(sql, "  ") + f"\n) AS {name}"


def _sessionize(wanted: ReadyRequest) -> ActionBody:
    key, at = ", ".join(wanted.key), wanted.order
    # Which of the events at one time comes first changes no session; a further column shows that it was thought of.
    order = ", ".join([at, *[n for n in wanted.rest if _orders(wanted.types[n])][:1]])
    before = f"LAG({at}) OVER (PARTITION BY {key} ORDER BY {order})"
    sql = (
        f"SELECT\n  {_list(wanted.key)},\n  session_start,\n  MAX({at}) AS session_end,\n  COUNT(*) AS events\nFROM (\n"
        f"  SELECT\n    {_list([*wanted.key, at], '    ')},\n"
        f"    MAX(begins) OVER (PARTITION BY {key} ORDER BY {at}) AS session_start\n  FROM (\n"
        f"    SELECT\n      {_list([*wanted.key, at], '      ')},\n      CASE\n"
        f"        WHEN UNIX_TIMESTAMP({at}) - UNIX_TIMESTAMP({before}) <= :gap_minutes * 60 THEN NULL\n"
        f"        ELSE {at}\n      END AS begins\n    FROM {PORT}\n  ) AS in_order\n) AS in_sessions\n"
        f"GROUP BY\n  {_list(wanted.key)},\n  session_start"
    )
    first, near, far = (_row(wanted, number) for number in (0, 1, 2))
    expect = (
        _only(first, wanted.key) | {"session_start": first[at], "session_end": near[at], "events": 2},
        _only(far, wanted.key) | {"session_start": far[at], "session_end": far[at], "events": 1},
    )
    params = {"gap_minutes": "{type: int, default: 30, description: a session ends when nothing came for so long}"}
    return ActionBody(sql, (*wanted.key, "session_start"), given=(far, near, first), expect=expect, params=params)


def _flatten(wanted: ReadyRequest) -> ActionBody:
    other_columns = [name for name in wanted.types if name != wanted.payload]
    names = {path: path.removeprefix("$.").replace(".", "_") for path in wanted.fields}
    values = [
        f"TRY_CAST(GET_JSON_OBJECT({wanted.payload}, '$.{path.removeprefix('$.')}') AS {type_.upper()}) "
        f"AS {names[path]}"
        for path, type_ in wanted.fields.items()
    ]
    document: dict[str, Any] = {}
    for path, type_ in wanted.fields.items():
        at, *_ = [document]
        *above, last = path.removeprefix("$.").split(".")
        for part in above:
            at = at.setdefault(part, {})
        at[last] = sample(type_, 0)
    good, bad = (_row(wanted, number) for number in (0, 1))
    good[wanted.payload], bad[wanted.payload] = json.dumps(document), "no JSON"
    fields = {names[path]: sample(type_, 0) for path, type_ in wanted.fields.items()}
    expect = (_only(good, other_columns) | fields, _only(bad, other_columns) | dict.fromkeys(fields))
    sql = f"SELECT\n  {_list([*other_columns, *values])}\nFROM {PORT}"
    return ActionBody(sql, wanted.key, given=(good, bad), expect=expect)


def _mask(wanted: ReadyRequest) -> ActionBody:
    import hashlib

    shown = [
        f"SHA2(CONCAT(:salt, CAST({name} AS STRING)), 256) AS {name}" if name in wanted.chosen else name
        for name in wanted.types
    ]
    row = _row(wanted, 1)
    hidden = {
        name: hashlib.sha256(_as_text(row[name]).encode()).hexdigest() if name in row else None
        for name in wanted.chosen
    }
    params = {"salt": '{type: string, default: "", description: makes it harder to guess the values of the hashes}'}
    sql = f"SELECT\n  {_list(shown)}\nFROM {PORT}"
    expect = (_only(row, list(wanted.types)) | hidden,)
    return ActionBody(sql, wanted.key, given=(row,), expect=expect, params=params)


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unpivot(wanted: ReadyRequest) -> ActionBody:
    types = {wanted.types[name] for name in wanted.chosen}
    shared = types.pop() if len(types) == 1 else "string"
    other_columns = [name for name in wanted.types if name not in wanted.chosen]
    parts = []
    for name in wanted.chosen:
        shown = _list([*other_columns, f"'{name}' AS name", f"CAST({name} AS {shared.upper()}) AS value"])
        parts.append(f"SELECT\n  {shown}\nFROM {PORT}\nWHERE {name} IS NOT NULL")
    row = _row(wanted, 1)
    expect = tuple(
        _only(row, other_columns) | {"name": name, "value": _as_text(row[name]) if shared == "string" else row[name]}
        for name in wanted.chosen
        if name in row
    )
    return ActionBody(
        "\nUNION ALL\n".join(parts), (*wanted.key, "name") if wanted.key else (), given=(row,), expect=expect
    )


def _rollup(wanted: ReadyRequest) -> ActionBody:
    hour = f"DATE_TRUNC('HOUR', {wanted.order})"
    sums = [f"SUM({name}) AS {name}" for name in wanted.chosen]
    sql = (
        f"SELECT\n  {_list([*wanted.key, f'{hour} AS hour', 'COUNT(*) AS events', *sums])}\nFROM {PORT}\n"
        f"GROUP BY\n  {_list([*wanted.key, hour])}"
    )
    rows = [_row(wanted, number) for number in (0, 1, 2)]
    hours = (("2026-01-01 10:00:00", rows[:2]), ("2026-01-01 12:00:00", rows[2:]))
    expect = tuple(
        _only(some[0], wanted.key)
        | {"hour": at, "events": len(some)}
        | {n: sum(r[n] for r in some) for n in wanted.chosen}
        for at, some in hours
    )
    return ActionBody(sql, (*wanted.key, "hour"), event_time="hour", given=tuple(rows), expect=expect)


_OF_CHANGES = ("cdc_apply", "scd2", "deduplicate_latest")
_BY_TIME = ("scd2", "sessionize", "hourly_rollup")
READY = {
    one.name: one
    for one in (
        ReadyAction(
            "cdc_apply",
            "clean",
            "The latest state of each key, from a log of changes.",
            ("key", "order", "op"),
            _cdc_apply,
            ordered=True,
        ),
        ReadyAction(
            "scd2",
            "clean",
            "The history of each key, with the time from which and until which each version is valid.",
            ("key", "order"),
            _scd2,
            ordered=True,
        ),
        ReadyAction("deduplicate_latest", "clean", "The newest row of each key.", ("key", "order"), _deduplicate),
        ReadyAction(
            "sessionize",
            "aggregate",
            "Sessions of each key: events without a long gap between them.",
            ("key", "order"),
            _sessionize,
        ),
        ReadyAction(
            "flatten_json", "clean", "Fields of a JSON text as typed columns.", ("payload", "fields"), _flatten
        ),
        ReadyAction(
            "mask_personal_data", "clean", "The rows with hashes in place of personal data.", ("chosen",), _mask
        ),
        ReadyAction(
            "unpivot", "clean", "One row for each of several columns, with its name and value.", ("chosen",), _unpivot
        ),
        ReadyAction("hourly_rollup", "aggregate", "Counts and sums of each key and hour.", ("order",), _rollup),
    )
}
"""Name → ready action."""
