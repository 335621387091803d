"""The second stage of a look: the plans that follow from what flows follow, and what they do not compile with.

It reads the project and its cache, and changes nothing else.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from streamhouse.errors import StreamhouseError
from streamhouse.model.plan import FlowPlan
from streamhouse.project.check import Checked, check_project, compile_with_upstream
from streamhouse.project.known_inputs import KnownInputs
from streamhouse.trigger.basis import Basis
from streamhouse.trigger.following import Following
from streamhouse.trigger.settlement import Settlement, does_not_compile

Followings = Mapping[str, Following]
"""Flow → what it follows."""


@dataclass(frozen=True)
class SetApart:
    """What flows follow once what they do not compile with is left out.

    Attributes:
        followings: All flows again.
        settlements: Flow → to be recorded: what was left out.
        is_changed: Whether a flow follows less than before.
    """

    followings: Followings
    settlements: Mapping[str, tuple[Settlement, ...]]
    is_changed: bool


def known_inputs(basis: Basis, followings: Followings) -> KnownInputs:
    """What flows know of their inputs, after all changes that are followed."""
    known = {flow: one.known for flow, one in followings.items() if one.known}
    return KnownInputs(basis.applied, known, {flow: one.granted for flow, one in followings.items() if one.granted})


def compiled(basis: Basis, inputs: KnownInputs) -> Checked:
    """The plans of all flows; where a definition is wrong, of each flow of the look that compiles by itself."""
    checked = check_project(basis.project, basis.registry, inputs)
    if not checked.errors:
        return checked
    plans: dict[str, FlowPlan] = {}
    errors: list[StreamhouseError] = []
    for flow in basis.looks:  # one that is broken does not hold up the others
        try:
            plans[flow] = compile_with_upstream(basis.project, basis.registry, flow, inputs)
        except StreamhouseError as error:
            errors.append(error)
    return Checked(tuple(errors), plans=plans)


def set_apart(basis: Basis, followings: Followings, broken: Iterable[str], as_files: Collection[str]) -> SetApart:
    """Leave out what flows do not compile with, so that they follow the rest.

    All events of one thing are left out or followed together: its columns are read as they are there, or as they were.

    Args:
        basis: What is known.
        followings: What each flow follows.
        broken: Flows, upstream first, that do not compile with all that they follow.
        as_files: Those that compile as the files are, and nothing followed.
    """
    found, settlements, is_changed = dict(followings), {}, False
    for flow in broken:
        if flow not in found:
            continue
        things = found[flow].things
        rest, errors = _followable(basis, found, flow)
        if flow not in as_files and len(errors) == len(things):  # the files are wrong
            continue
        is_changed = is_changed or bool(things)
        found[flow] = rest
        settlements[flow] = tuple(does_not_compile(one, error) for t, error in errors.items() for one in things[t])
    return SetApart(found, settlements, is_changed)


def _followable(basis: Basis, followings: Followings, flow: str) -> tuple[Following, dict[str, str]]:
    """What a flow compiles with, and thing → why it does not compile with it."""
    before = followings[flow]
    things, rest = before.things, before.without_decisions()
    waiting = dict.fromkeys(things, "")
    while waiting:  # one may compile only beside another
        errors: dict[str, str] = {}
        for thing in waiting:
            more = rest.with_thing(things[thing], before.granted)
            error = _why_not(basis, {**followings, flow: more}, flow)
            if error is None:
                rest = more
            else:
                errors[thing] = error
        if len(errors) == len(waiting):
            return rest, errors
        waiting = errors
    return rest, {}


def _why_not(basis: Basis, followings: Followings, flow: str) -> str | None:
    try:
        compile_with_upstream(basis.project, basis.registry, flow, known_inputs(basis, followings))
    except StreamhouseError as error:
        return str(error)
    return None
