"""What routes ask for: the project, who asks, what answers queries. Each may be refused before a body is read."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Depends, HTTPException, Request

from streamhouse.runtime.command import Command
from streamhouse.ui.desk import Desk
from streamhouse.ui.person import Person
from streamhouse.ui.query_process import Asker


@dataclass(frozen=True)
class PageParts:
    """What the app of a page is made of; it lies in the app's state."""

    desk: Callable[[], Desk]
    """Gives the project, at every request."""
    engine: Callable[[], Command | None]
    """Gives the command that answers queries, at every request; None: there is no engine."""
    where: Literal["alone", "airflow"]
    """Which shell is around the page."""
    askers: dict[Path, Asker] = field(default_factory=dict)
    """Root of a project → what runs the engine's command for it."""
    said: dict[str, str] = field(default_factory=dict)
    """Proposal → what is being done for it."""


def admission(guard: Callable[..., Any]) -> Callable[..., Awaitable[None]]:
    """The dependency that stands before every route.

    Args:
        guard: A FastAPI dependency that gives the `Person`, or refuses the request.
    """

    async def admit(request: Request, person: Annotated[Person, Depends(guard)]) -> None:
        request.state.person = person

    return admit


async def page_parts(request: Request) -> PageParts:
    """What the app was made of."""
    parts: PageParts = request.app.state.parts
    return parts


Parts = Annotated[PageParts, Depends(page_parts)]


def the_desk(parts: Parts) -> Desk:
    """The project."""
    return parts.desk()


def the_engine(parts: Parts) -> Command | None:
    """The command that answers queries."""
    return parts.engine()


async def the_person(request: Request) -> Person:
    """Who asks; `admission` let that person in."""
    person: Person = request.state.person
    return person


At = Annotated[Desk, Depends(the_desk)]
Engine = Annotated[Command | None, Depends(the_engine)]
Someone = Annotated[Person, Depends(the_person)]


async def the_asker(parts: Parts, at: At, command: Engine) -> Asker:
    """What runs the engine's command for the project, as the command is now."""
    found = parts.askers.setdefault(at.project.root, Asker(at.project.root, command))
    found.engine = command
    return found


TheAsker = Annotated[Asker, Depends(the_asker)]


async def deciding(person: Someone) -> Person:
    """One who may decide about flows.

    Raises:
        HTTPException: this one may not (403).
    """
    if not person.may_decide:
        raise HTTPException(403, f"{person.name} may look at flows here, and not decide about them")
    return person


async def querying(person: Someone) -> Person:
    """One who may query tables.

    Raises:
        HTTPException: this one may not (403).
    """
    if not person.may_query:
        raise HTTPException(403, f"{person.name} may look at flows here, and not query their tables")
    return person


Deciding = Annotated[Person, Depends(deciding)]
Querying = Annotated[Person, Depends(querying)]
