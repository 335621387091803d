"""Errors in the words of answers."""

from collections.abc import Iterable

from pydantic import ValidationError

from streamhouse.errors import ArgumentsError, DefinitionErrors, StreamhouseError
from streamhouse.mcp_server.answers import ErrorAnswer, Fault
from streamhouse.mcp_server.commands import for_client
from streamhouse.mcp_server.health import meaning
from streamhouse.mcp_server.shareable import Shared
from streamhouse.model.notice import Notice
from streamhouse.secret import masked
from streamhouse.ui.problem_data import ProblemError, trouble

_MOST = 100
_ELSEWHERE = "a person can see it: streamhouse validate"


def faults_of(error: StreamhouseError | ProblemError) -> tuple[Fault, ...]:
    """Every error that one stands for; at least one."""
    if isinstance(error, ProblemError):
        problem = error.problem
        first = Fault(code=problem.code, message=problem.detail, hint=problem.hint, file=problem.file)
        return tuple(_fault(one) for one in problem.errors or (first,))
    several = error.errors if isinstance(error, DefinitionErrors) and error.errors else (error,)
    return tuple(_fault(trouble(one)) for one in several)


def notice_fault(notice: Notice) -> Fault:
    """A remark on a file."""
    known = {key: value for key, value in notice.document().items() if key in Fault.model_fields}
    return _fault(Fault.model_validate(known))


def arguments_error(error: ValidationError) -> ArgumentsError:
    """What is wrong with arguments, without the values: they may be long."""
    found = [f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors()[:5]]
    return ArgumentsError("; ".join(found), hint="see the tool's inputSchema in tools/list")


def unforeseen(error: Exception) -> Fault:
    """A fault of ours: what kind, without what it says, which may be of rows."""
    return Fault(
        code=StreamhouseError.code,
        message=f"internal error: {type(error).__name__}",
        hint="the full trace is in the log of the server, on standard error",
    )


def answer_of(faults: Iterable[Fault], shared: Shared | None) -> ErrorAnswer:
    """Errors as clients see them: without anything that may not be shown.

    Args:
        faults: At least one.
        shared: None: nobody knows what may be shown, because the project cannot be read; then only the kind is.
    """
    shown_faults = [_redact(fault, shared) if shared is not None else _kind(fault) for fault in faults][:_MOST]
    return ErrorAnswer(error=shown_faults[0], errors=tuple(shown_faults) if len(shown_faults) > 1 else ())


def _redact(fault: Fault, shared: Shared) -> Fault:
    if not shared.keeps_back(f"{fault.message}\n{fault.hint or ''}", fault.file):
        return fault
    return fault.model_copy(
        update={"message": "an error about a table whose schema may not be shown", "hint": _ELSEWHERE}
    )


def _kind(fault: Fault) -> Fault:
    if fault.code == StreamhouseError.code:  # ours, and says nothing
        return fault
    return Fault(code=fault.code, message=meaning(fault.code) or "an error", hint=_ELSEWHERE)


def redact_all(faults: Iterable[Fault], shared: Shared) -> list[Fault]:
    """Errors and remarks without what may not be shown."""
    return [_redact(fault, shared) for fault in faults]


def _fault(problem: Fault) -> Fault:
    return problem.model_copy(
        update={
            "message": masked(for_client(problem.message)),
            "hint": masked(for_client(problem.hint)) if problem.hint else None,
        }
    )
