"""Looks at what a change built, before it serves: audits it, and compares it with what serves."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamhouse.change.audit import Profile, audit
from streamhouse.change.building import Building, running_plan
from streamhouse.change.data_diff import MOST_ROWS, Versions, data_diff
from streamhouse.change.profile import profile
from streamhouse.engine.carried_positions import positions
from streamhouse.errors import ChangeFailedError, RowsLostError
from streamhouse.model.action import Expectation
from streamhouse.model.plan import QUARANTINE, FlowPlan
from streamhouse.model.review import Difference, Review, TableReview
from streamhouse.model.table import Table
from streamhouse.model.types import Position
from streamhouse.model.version import stored_name, table_name
from streamhouse.spark.failures import failed_queries, first_line
from streamhouse.tiering.union import union_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass
class Reviewing:
    """Looks at the tables of a candidate.

    Attributes:
        building: The candidate, filled.
        at: How far its flow was when the candidate had read to there: source, or table as stores call it → position.
        most: Compare so many rows of a table at most; of larger ones a part of the keys.
    """

    building: Building
    at: Mapping[str, Position]
    most: int = MOST_ROWS

    def review(self, *notes: str) -> Review:
        """Look at each table.

        Raises:
            ChangeFailedError: Spark cannot read or compare them.
            StateConflictError: what serves can no longer be read as of `at`, as tiering went on.
        """
        plan, reached = self.building.plan, positions(self.building.plan, self.building.last)
        before = running_plan(self.building.open.state, self.building.change.flow)
        all_notes, looked = list(notes), []
        for table in plan.tables.values():
            if table.name.endswith(QUARANTINE):
                continue
            self.building.say(f"looking at {table.name}")
            try:
                looked.append(self._table(plan, before, table, reached, all_notes))
            except failed_queries() as error:
                raise ChangeFailedError(
                    f"{table.name} cannot be looked at before it serves: {first_line(error)}"
                ) from error
        return Review(at_ms=time.time_ns() // 1_000_000, tables=tuple(looked), notes=tuple(all_notes))

    def _table(
        self, plan: FlowPlan, before: FlowPlan, table: Table, reached: Mapping[str, Position], notes: list[str]
    ) -> TableReview:
        name = table_name(table.name)
        expect = {rule: e for step in plan.steps if step.writes.name == table.name for rule, e in step.expect.items()}
        renamed = {n: old for s in plan.steps if s.writes.name == table.name for n, old in s.renamed.items()}
        rows = self._rows(table, reached)
        new = profile(table, rows, self._quarantine(plan, table, reached), expect, most=self.most)
        serving = self.building.open.state.versions().get(name, 1)
        served = before.tables.get(stored_name(name, serving))
        old: Profile | None = None
        difference: Difference | None = None
        versions = Versions.of(served, table, renamed) if served is not None else None
        if served is not None and versions is not None:
            try:
                served_rows = self._rows(served, self.at)
                old = self._old(before, versions, served_rows, expect)
                if versions.names:
                    difference = data_diff(versions, served_rows, rows, max(old.rows, new.rows), self.most)
            except RowsLostError as error:  # of a hot log, which forgets
                notes.append(f"{name} is not compared with what serves: {error.message}")
        checks = audit(
            new,
            old,
            expect,
            keyed=bool(table.primary_key),
            same_rows=versions is None or versions.same_rows,
        )
        return TableReview(
            table=name,
            old_version=serving if served is not None else None,
            new_version=self.building.change.versions.get(name, 1),
            old_rows=old.rows if old is not None else None,
            new_rows=new.rows,
            checks=checks,
            difference=difference,
        )

    def _old(
        self, before: FlowPlan, versions: Versions, served_rows: "DataFrame", expect: Mapping[str, Expectation]
    ) -> Profile:
        """Figures of what serves, by the expectations of what is to; by none, where they fail on its rows."""
        from pyspark.errors import PySparkException

        quarantine = self._quarantine(before, versions.old, self.at)
        as_read = versions.old.model_copy(update={"primary_key": ()})
        rows = versions.old_as_new(served_rows)
        try:
            return profile(as_read, rows, quarantine, expect, most=self.most)
        except PySparkException:
            return profile(as_read, rows, quarantine, {}, most=self.most)

    def _quarantine(self, plan: FlowPlan, table: Table, at: Mapping[str, Position]) -> "DataFrame | None":
        quarantine = plan.tables.get(f"{table.name}{QUARANTINE}")
        return self._rows(quarantine, at) if quarantine is not None else None

    def _rows(self, table: Table, at: Mapping[str, Position]) -> "DataFrame":
        open_ = self.building.open
        return union_frame(open_.spark, table, open_.stores, at=at.get(table.name, {}))
