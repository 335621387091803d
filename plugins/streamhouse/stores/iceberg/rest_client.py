"""PyIceberg's client of a REST catalog, with the time limit that it lacks; it is imported by whom it connects."""

from typing import Any

from pyiceberg.catalog.rest import RestCatalog  # noqa: TID253  this module is imported when it is needed only
from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter

CONNECT_S, ANSWER_S = 10.0, 60.0  # the latter between two parts of an answer, too


class TimedCatalog(RestCatalog):
    """A `RestCatalog` that raises `requests.Timeout` where a catalog takes a request and does not answer."""

    def _config_headers(self, session: Session) -> None:
        # The first thing that is done to a session: the next one asks for a token.
        for scheme in ("https://", "http://"):
            session.mount(scheme, _Timed())
        super()._config_headers(session)


class _Timed(HTTPAdapter):
    def send(self, request: PreparedRequest, *arguments: Any, **named: Any) -> Response:
        if not arguments and named.get("timeout") is None:
            named["timeout"] = (CONNECT_S, ANSWER_S)
        return super().send(request, *arguments, **named)
