"""Errors as data: code, cause, place and hint. Needs no web server."""

from http import HTTPStatus

from streamhouse import errors
from streamhouse.errors import (
    ApprovalClosedError,
    DefinitionError,
    DefinitionErrors,
    EnvironmentProblem,
    LeaseHeldError,
    PlanningError,
    ProposalOutdatedError,
    QueryError,
    StateConflictError,
    StoreError,
    StreamhouseError,
)
from streamhouse.ui.answers import Problem, ProblemDetail

_UNKNOWN = (
    errors.UnknownActionError,
    errors.UnknownApprovalError,
    errors.UnknownChangeError,
    errors.UnknownColumnError,
    errors.UnknownFlowError,
    errors.UnknownProposalError,
    errors.UnknownTableError,
)
_STATUS: tuple[tuple[tuple[type[StreamhouseError], ...], HTTPStatus], ...] = (
    ((ApprovalClosedError, StateConflictError, LeaseHeldError, ProposalOutdatedError), HTTPStatus.CONFLICT),
    ((DefinitionError, DefinitionErrors, PlanningError, QueryError), HTTPStatus.UNPROCESSABLE_ENTITY),
    ((StoreError, EnvironmentProblem), HTTPStatus.SERVICE_UNAVAILABLE),
)


class ProblemError(Exception):
    """Raised with a problem that is no error of ours, such as one of an engine elsewhere."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.detail)


def trouble(error: StreamhouseError) -> ProblemDetail:
    """An error as data."""
    at = error.at
    place = {"file": at.file, "line": at.line, "column": at.column} if at is not None else {}
    return ProblemDetail.model_validate({"code": error.code, "message": error.message, "hint": error.hint, **place})


def problem_of(error: StreamhouseError) -> Problem:
    """An error as an answer; of several the first stands for all."""
    several = error.errors if isinstance(error, DefinitionErrors) else (error,)
    return new_problem(_status(several[0] if several else error), [trouble(one) for one in several] or [trouble(error)])


def _status(error: StreamhouseError) -> HTTPStatus:
    if isinstance(error, _UNKNOWN) and error.at is None:  # else a file names what is not there
        return HTTPStatus.NOT_FOUND
    return next((status for kinds, status in _STATUS if isinstance(error, kinds)), HTTPStatus.INTERNAL_SERVER_ERROR)


def new_problem(status: HTTPStatus, troubles: list[ProblemDetail]) -> Problem:
    """A problem of at least one trouble."""
    first = troubles[0]
    return Problem(
        title=status.phrase,
        status=status.value,
        code=first.code,
        detail=first.message,
        hint=first.hint,
        file=first.file,
        line=first.line,
        column=first.column,
        errors=tuple(troubles) if len(troubles) > 1 else (),
    )
