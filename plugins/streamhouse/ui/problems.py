"""Errors as the page reads them: problem JSON with our code, cause, place and hint."""

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from streamhouse.errors import MissingPackageError, StreamhouseError
from streamhouse.secret import masked
from streamhouse.ui.answers import Problem, ProblemDetail
from streamhouse.ui.problem_data import ProblemError, new_problem, problem_of

MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger(__name__)


def response(problem: Problem) -> JSONResponse:
    """A problem as it is sent."""
    return JSONResponse(problem.model_dump(mode="json"), problem.status, media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answer every error of an app with a problem."""
    app.exception_handler(StreamhouseError)(_ours)
    app.exception_handler(ProblemError)(_known_problem)
    app.exception_handler(HTTPException)(_refused)
    app.exception_handler(RequestValidationError)(_malformed)
    app.exception_handler(ModuleNotFoundError)(_missing)
    app.exception_handler(Exception)(_unforeseen)


def _ours(_: Request, error: StreamhouseError) -> JSONResponse:
    return response(problem_of(error))


def _known_problem(_: Request, error: ProblemError) -> JSONResponse:
    return response(error.problem)


def _refused(_: Request, error: HTTPException) -> JSONResponse:
    status = HTTPStatus(error.status_code)
    return response(new_problem(status, [ProblemDetail(code="http", message=str(error.detail))]))


def _malformed(_: Request, error: RequestValidationError) -> JSONResponse:
    details = [
        ProblemDetail(code="request", message=f"{'.'.join(map(str, one['loc']))}: {one['msg']}")
        for one in error.errors()
    ]
    return response(new_problem(HTTPStatus.UNPROCESSABLE_ENTITY, details))


def _missing(_: Request, error: ModuleNotFoundError) -> JSONResponse:
    """Where the page runs without an engine, some of its packages are not there."""
    _log.warning("the page lacks a package: %s", error)
    package_error = MissingPackageError(
        f"the Python package '{(error.name or str(error)).partition('.')[0]}' is not installed where the page runs",
        hint="compile the project once where an engine is (streamhouse validate), or install 'streamhouse[engine]'",
    )
    return response(problem_of(package_error))


def _unforeseen(_: Request, error: Exception) -> JSONResponse:
    _log.error("the page could not answer", exc_info=error)
    detail = ProblemDetail(
        code=StreamhouseError.code,
        message=masked(f"internal error: {type(error).__name__}: {error}"),
        hint="the full trace is in the log of the server",
    )
    return response(new_problem(HTTPStatus.INTERNAL_SERVER_ERROR, [detail]))
