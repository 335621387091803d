"""Ready actions in tests: each over a table that has the columns it needs."""

from streamhouse.model.action import Action
from streamhouse.model.table import Column
from streamhouse.planner.ready_actions import READY, ReadyRequest, text_of
from streamhouse.registry.read_action import read_action
from streamhouse.sql.types import split_not_null

CHANGES = {
    "customer_id": "bigint not null",
    "updated_at": "timestamp not null",
    "op": "string",
    "name": "string",
    "email": "string",
    "balance": "decimal(10,2)",
    "active": "boolean",
}
STATES = {name: kind for name, kind in CHANGES.items() if name != "op"}
EVENTS = {"device": "string", "shop": "int", "seen_at": "timestamp", "cents": "bigint", "watts": "bigint"}


def columns(types: dict[str, str]) -> tuple[Column, ...]:
    """Columns of a table; `not null` behind a type: each row has a value."""
    split = {name: split_not_null(kind) for name, kind in types.items()}
    return tuple(Column(name=name, type=kind, nullable=not always) for name, (kind, always) in split.items())


WANTED = {
    "cdc_apply": ReadyRequest(columns(CHANGES), ("customer_id",), "updated_at", op="op"),
    "scd2": ReadyRequest(columns(STATES), ("customer_id",), "updated_at"),
    "deduplicate_latest": ReadyRequest(columns(STATES), ("customer_id",), "updated_at"),
    "sessionize": ReadyRequest(columns(EVENTS), ("device", "shop"), "seen_at"),
    "flatten_json": ReadyRequest(
        columns({"id": "bigint", "body": "string"}),
        payload="body",
        fields={"user.id": "bigint", "$.user.name": "string", "at": "timestamp", "price": "decimal(9,2)"},
    ),
    "mask_personal_data": ReadyRequest(columns(STATES), chosen=("email", "name", "customer_id")),
    "unpivot": ReadyRequest(columns(EVENTS), ("device", "seen_at"), chosen=("cents", "watts")),
    "hourly_rollup": ReadyRequest(columns(EVENTS), ("device",), "seen_at", ("cents", "watts")),
}


def ready_action(name: str) -> Action:
    """A ready action over its columns."""
    return read_action(text_of(READY[name], name, WANTED[name]), f"{name}.sql").action
