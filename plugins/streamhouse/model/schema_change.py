"""How a flow follows changes of what it reads: policies, kinds of events, and what a flow file says of them."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from streamhouse.errors import did_you_mean
from streamhouse.model.types import Frozen, Layer

QUESTION_LIFETIME = timedelta(days=7)
"""How long a question about a change stays open; then it is asked again, with the evidence of that day."""


class Policy(StrEnum):
    """What to do about a change upstream; docs/trigger.md has one cell for each of them and each kind of event."""

    FREEZE = "freeze"  # nothing, until a person decides; readers wait at their positions
    LENIENT = "lenient"  # keep what there is and take what is added, so that nothing is lost
    EVOLVE = "evolve"  # follow; a change that loses something waits for a person
    TRY_EVOLVE = "try_evolve"  # follow where the tiers can, else convert the rows
    IGNORE = "ignore"  # go on as if nothing had changed
    DISCARD_ROW = "discard_row"  # leave out rows that do not fit, and count them
    DISCARD_VALUE = "discard_value"  # leave out values that do not fit, and count them
    RESCUE = "rescue"  # keep values that do not fit in a column beside, as JSON


class EventType(StrEnum):
    """What changed upstream."""

    ADD_COLUMN = "add_column"
    ADD_REQUIRED_COLUMN = "add_required_column"  # NOT NULL, or with a default
    DROP_COLUMN = "drop_column"
    RENAME_COLUMN = "rename_column"  # known to be the same column: by its field id, by a DDL message
    MAYBE_RENAME = "maybe_rename"  # one went and one like it came
    WIDEN_TYPE = "widen_type"
    NARROW_TYPE = "narrow_type"
    CHANGE_TYPE = "change_type"  # neither holds the other's values
    RELAX_NULLABILITY = "relax_nullability"
    TIGHTEN_NULLABILITY = "tighten_nullability"
    CHANGE_KEY = "change_key"  # primary key or merge key
    CHANGE_LAYOUT = "change_layout"  # partitions, buckets, sort order
    ADD_FIELD = "add_field"  # within a struct
    CHANGE_TEXT = "change_text"  # order of columns, comments, tags
    TRUNCATE_TABLE = "truncate_table"
    DROP_TABLE = "drop_table"
    RECREATE_TABLE = "recreate_table"  # another table under the same name
    NEW_TABLE = "new_table"  # one that matches a route
    SHARDS_DISAGREE = "shards_disagree"
    UNKNOWN_FIELD = "unknown_field"  # in rows that declare no schema
    POSITIONS_LOST = "positions_lost"
    EDIT = "edit"  # a person changed a file of the project: judged by what it means, not by a policy


SUBJECT_TO_POLICY = tuple(kind for kind in EventType if kind is not EventType.EDIT)


def _word(what: str, known: tuple[StrEnum, ...]) -> BeforeValidator:
    def check(value: Any) -> Any:
        names = [word.value for word in known]
        if value in names:
            return value
        raise ValueError(f"{value} is no {what}; {_remedy(str(value), names)}")

    return BeforeValidator(check)


def _remedy(value: str, names: list[str]) -> str | None:
    return did_you_mean(value, names, f"one of: {', '.join(names)}")


_Event = Annotated[EventType, _word("event", SUBJECT_TO_POLICY)]
_Layer = Annotated[Layer, _word("layer", tuple(Layer))]
_On = Annotated[dict[_Event, Policy], Field(description="event → policy: {drop_column: freeze, add_column: evolve}")]
_Events = Annotated[tuple[_Event, ...], Field(description="kinds of events")]


def _short(value: Any) -> Any:
    """`orders: freeze` is short for `orders: {policy: freeze}`."""
    if not isinstance(value, str):
        return value
    names = [policy.value for policy in Policy]
    if value not in names:
        raise ValueError(f"'{value}' is no policy; {_remedy(value, names)}")
    return {"policy": value}


class ColumnRules(Frozen):
    """How one column of a table follows."""

    policy: Policy | None = Field(default=None, description="of this column; without it that of the table")
    on: _On = Field(default_factory=dict)


class TableRules(Frozen):
    """How one table that the flow writes follows what its step reads."""

    policy: Policy | None = Field(default=None, description="of this table; without it that of the flow")
    on: _On = Field(default_factory=dict)
    include: _Events | None = Field(default=None, description="follow these only; others are ignored")
    exclude: _Events = Field(default=(), description="never follow these: they are ignored, whatever else is said")
    columns: dict[
        str,
        Annotated[ColumnRules, BeforeValidator(_short, json_schema_input_type=Policy | ColumnRules)],
    ] = Field(default_factory=dict, description="column read → policy, or {policy: …, on: …}")


class SchemaChange(Frozen):
    """How a flow follows changes of what it reads. `schema_change: evolve` is short for `{policy: evolve}`."""

    policy: Policy | None = Field(default=None, description="of the whole flow; without it each layer has its default")
    layers: dict[_Layer, Policy] = Field(default_factory=dict, description="layer → policy")
    on: _On = Field(default_factory=dict)
    include: _Events | None = Field(default=None, description="follow these only; others are ignored")
    exclude: _Events = Field(default=(), description="never follow these: they are ignored, whatever else is said")
    tables: dict[
        str,
        Annotated[TableRules, BeforeValidator(_short, json_schema_input_type=Policy | TableRules)],
    ] = Field(default_factory=dict, description="table written by this flow → policy, or a mapping")

    def policy_for(self, event: EventType, table: str, column: str = "") -> tuple[Policy, str]:
        """The policy for an event where it reaches a table, and who says so.

        The nearest word counts: of the column, of the table, of the flow; then the layer's, then the default.
        At one place `exclude` comes before `on`, `on` before `include`, and that before `policy`.

        Args:
            event: Its kind.
            table: `layer.name` of the table that the reading step writes.
            column: The column it concerns; empty: none.
        """
        rules = self.tables.get(table, TableRules())
        own = rules.columns.get(column, ColumnRules())
        layer = Layer(table.partition(".")[0])
        if event in own.on:
            return own.on[event], f"on {event} of {table}.{column}"
        if own.policy is not None:
            return own.policy, f"{table}.{column}"
        for at, where in ((rules, table), (self, "the flow")):
            if event in at.exclude:
                return Policy.IGNORE, f"exclude of {where}"
            if event in at.on:
                return at.on[event], f"on {event} of {where}"
            if at.include is not None and event not in at.include:
                return Policy.IGNORE, f"include of {where}"
            if at is rules and rules.policy is not None:
                return rules.policy, where
        if layer in self.layers:
            return self.layers[layer], f"layer {layer}"
        if self.policy is not None:
            return self.policy, "the flow"
        return DEFAULTS[layer], f"default of {layer}"


DEFAULTS = {
    Layer.ODS: Policy.LENIENT,
    Layer.DWD: Policy.EVOLVE,
    Layer.DWS: Policy.FREEZE,
    Layer.ADS: Policy.FREEZE,
}

FollowsChanges = Annotated[
    SchemaChange,
    BeforeValidator(_short, json_schema_input_type=Policy | SchemaChange),
    Field(description="how to follow changes of what the flow reads: a policy, or a mapping"),
]
