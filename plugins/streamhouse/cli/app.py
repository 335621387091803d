"""What every command is given: the project it works on and how it shows results."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from streamhouse.cli.output import CommandOutput

if TYPE_CHECKING:
    from streamhouse.project.project import Project
    from streamhouse.registry import Registry
    from streamhouse.state.store import StateStore

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class App:
    """The choices a person made on the command line, and what follows from them, found when first asked for."""

    def __init__(self, *, as_json: bool = False, project_dir: Path | None = None) -> None:
        self.as_json = as_json
        self.project_dir = project_dir

    @property
    def output(self) -> CommandOutput:
        """Where results go: text for people, or JSON."""
        return CommandOutput(as_json=self.as_json)

    def tell_address(self, url: str) -> None:
        """Say where a server takes requests, at once: the process that started it may wait for that."""
        output = self.output
        if self.as_json:
            output.document({"url": url})
        else:
            output.line(f"{self.project.root.name}: {url}   (Ctrl-C ends it)", style="green")
        output.stream.flush()

    @cached_property
    def project(self) -> "Project":
        """The project of `--project`, else the one around the working directory; repaired, where it was moved.

        Raises:
            NotAProjectError: there is none.
            ProjectCopiedError: what it keeps is a copy of what another project keeps.
        """
        from streamhouse.project.identity import is_settled

        found = self.project_as_it_is
        if not is_settled(found.root):
            from streamhouse.runtime.settle import settle

            settle(found, lambda text: click.echo(text, err=True))
        return found

    @cached_property
    def project_as_it_is(self) -> "Project":
        """The same, wherever it is and whatever it was copied from.

        Raises:
            NotAProjectError: there is none.
        """
        from streamhouse.project.project import Project

        found = Project.at(self.project_dir) if self.project_dir is not None else Project.find(Path.cwd())
        # What a project keeps is nobody else's. Lakes in other folders are read there, maybe by other users.
        os.umask(os.umask(0o077) | (0o077 if found.keeps_to_itself else 0))
        return found

    @property
    def processes(self) -> int:
        """How many may work at the same time: one for each processor that we may use."""
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1

    @cached_property
    def registry(self) -> "Registry":
        """The project's actions and flows; what a broken file defines raises when it is asked for."""
        from streamhouse.project.check import load_registry

        return load_registry(self.project)

    def flow_names(self, state: "StateStore | None") -> set[str]:
        """Every flow that a file defines, also a broken one, or that ever ran."""
        return {*self.registry.flows, *self.registry.broken_flows, *(state.flows() if state is not None else ())}

    def check_flow(self, flow: str, state: "StateStore | None" = None) -> None:
        """Refuse a name that nothing has.

        Raises:
            UnknownFlowError: no file defines such a flow, and none ever ran.
        """
        from streamhouse.errors import UnknownFlowError

        known = self.flow_names(state)
        if flow not in known:
            raise UnknownFlowError(flow, known)

    def note_broken_files(self) -> None:
        """Tell on standard error, below a list, that some files could not be read."""
        if errors := self.registry.errors:
            files = sorted({error.at.file for error in errors if error.at})
            click.echo(f"not listed, for they have errors: {', '.join(files)} (see: streamhouse validate)", err=True)


def shared_options(command: Decorated) -> Decorated:
    """Add the options that all commands have; they may stand before or after a command's name."""
    for option in (
        click.option(
            "--project",
            metavar="DIR",
            type=click.Path(file_okay=False, path_type=Path),
            callback=_set_project,
            expose_value=False,
            help="Folder of the project. [default: searched upward from here]",
        ),
        click.option(
            "--json",
            is_flag=True,
            callback=_set_json,
            expose_value=False,
            help="Print one JSON document, also for errors.",
        ),
    ):
        command = option(command)
    return command


def _set_json(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.ensure_object(App).as_json = True


def _set_project(context: click.Context, _: click.Parameter, folder: Path | None) -> None:
    if folder is not None:
        context.ensure_object(App).project_dir = folder
