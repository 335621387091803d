"""The stages of a `delta` step: inner queries that are kept as tables in the segment's cache.

A stage is run as a step is, over the ports and the stages before it. What it changes is what the next ones read.
"""

from collections.abc import Mapping

from streamhouse.engine.needs import Need
from streamhouse.model.delta_plan import DeltaBlock, DeltaStage
from streamhouse.model.plan import PlannedRead, PlannedStep
from streamhouse.model.types import ReadMode


def table_of(step: PlannedStep, stage: DeltaStage) -> str:
    """What the rows of a stage are called in the cache."""
    return f"{step.id} {stage.name}"


def reads_of(step: PlannedStep, plan: DeltaBlock) -> tuple[PlannedRead, ...]:
    """What each port of a plan of the step reads: a source, a table, or a stage.

    Args:
        step: Its own ports, and those of its stages.
        plan: Of the step or of one of its stages.
    """
    if not plan.ports:
        return step.reads
    own = {read.port: read for read in step.reads}
    assert step.delta is not None, "of another strategy"
    for stage in step.delta.stages:
        names = tuple(column.name for column in stage.columns)
        own[stage.name] = PlannedRead(
            port=stage.name, table=table_of(step, stage), mode=ReadMode.CHANGES, columns=names
        )
    return tuple(own[of].model_copy(update={"port": port}) for port, of in plan.ports.items())


def stage_step(step: PlannedStep, stage: DeltaStage) -> PlannedStep:
    """A step that makes the rows of a stage."""
    name = table_of(step, stage)
    table = step.writes.model_copy(
        update={"name": name, "columns": stage.columns, "primary_key": stage.key, "null_keys": stage.key}
    )
    return step.model_copy(
        update={"reads": reads_of(step, stage.plan), "writes": table, "part": (), "delta": stage.plan, "expect": {}}
    )


def stage_needs(step: PlannedStep) -> Mapping[str, Need]:
    """Table of a stage → what is needed of it: all of it."""
    assert step.delta is not None, "of another strategy"
    stage_steps = {table_of(step, stage): stage_step(step, stage) for stage in step.delta.stages}
    return {name: Need(one.writes, one.columns, changes=True, state=True) for name, one in stage_steps.items()}
