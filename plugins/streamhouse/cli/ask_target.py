"""Where `--write` writes to, and what `--env` means beside it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App

if TYPE_CHECKING:
    from streamhouse.jobs.ask_options import Options
    from streamhouse.planner.proposal import Proposal


def write_target(app: App, write: str | None, environment: str | None) -> Path | None:
    """The folder for the files of a proposal; None: the project, or nothing is written.

    Args:
        app: Of the command.
        write: What stands behind --write; empty: the project; None: the option is absent.
        environment: In which the new tables are to be built; None: in none.

    Raises:
        UsageError: files for a folder are to be built.
        WriteTargetError: files cannot be written there.
    """
    from streamhouse.jobs.write_target import target_of

    target = target_of(app.project.root, Path(write) if write else None)
    if target is not None and environment is not None:
        raise click.UsageError(
            "--env builds what --write puts into the project; files for another folder are not built: leave one out"
        )
    return target


def with_environment(app: App, options: "Options", environment: str | None, write: str | None) -> "Options":
    """The options with an environment: to build the new tables in it, or else to read its tables.

    An environment that is to be built may not be there yet; then examples and preview read what serves.

    Raises:
        NoEnvironmentError: there is none whose tables could be read, and none is to be built.
    """
    from dataclasses import replace

    if environment is None:
        return options
    from streamhouse.change.environment import is_environment, require_environment

    if write is None:
        hint = f"to build the new tables in it: --write --env {environment}; those that are there: streamhouse env list"
        require_environment(app.project, environment, hint=hint)
        return replace(options, environment=environment)
    read = environment if is_environment(app.project, environment) else None
    return replace(options, environment=read, build_in=environment)


def check_build(app: App, proposal: "Proposal", environment: str | None) -> None:
    """Refuse a proposal whose tables cannot be built in an environment, before any of its files is written.

    A flow that was never applied has nothing beside which they could be built: its files are written, and say so.

    Raises:
        BlockedError: a person must decide first.
        StateConflictError: the flow has not run yet.
        NoEnvironmentError: the name is none.
        ProposalOutdatedError: the project's files have changed since.
    """
    if environment is None or not proposal.flow or not proposal.files:
        return
    from streamhouse.change.environment import require_buildable
    from streamhouse.jobs.ask import check_unchanged
    from streamhouse.planner.try_files import with_edits
    from streamhouse.project.compare import compare_project
    from streamhouse.registry.files import read_files

    check_unchanged(app.project, proposal)
    files = with_edits(read_files(app.project.root), proposal.files)
    for one in compare_project(app.project, proposal.flow, files=files):
        if one.applied is not None and (one.is_change or one.differs):
            require_buildable(app.project, one, environment)
