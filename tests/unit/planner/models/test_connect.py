import socket
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from streamhouse.errors import ModelAwayError
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.models.connect import open_model
from streamhouse.planner.models.loop import ask_model
from streamhouse.planner.models.mask import Mask
from streamhouse.project.settings import ModelSettings


def _settings(**more):
    return ModelSettings.model_validate({"model": "openai:m", **more})


def test_without_the_packages_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_ai.exceptions", None)
    with pytest.raises(ModelAwayError, match="packages for models are not installed") as away:
        open_model(_settings(), {})
    assert "streamhouse[models]" in str(away.value)


@pytest.mark.parametrize(
    ("model", "hint"),
    [
        ("openai:gpt-5", "set STREAMHOUSE_MODEL_KEY, or OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-5", "set STREAMHOUSE_MODEL_KEY, or ANTHROPIC_API_KEY"),
        ("nobody:m", "its key is STREAMHOUSE_MODEL_KEY"),
    ],
)
def test_without_a_key_or_with_an_unknown_provider_it_says_so(model, hint):
    with pytest.raises(ModelAwayError, match=f"'{model}' cannot be asked") as away:
        open_model(_settings(model=model), {})
    assert away.value.hint == hint
    assert "api_key" not in str(away.value), "no words for programmers"


def test_the_key_of_streamhouse_is_the_providers():
    assert open_model(_settings(), {"STREAMHOUSE_MODEL_KEY": "k"}).client.api_key == "k"


def test_a_key_is_not_sent_in_the_clear_to_another_machine():
    settings = _settings(url="http://models.example/v1")
    with pytest.raises(ModelAwayError, match="is not sent to"):
        open_model(settings, {"STREAMHOUSE_MODEL_KEY": "k"})
    assert open_model(settings, {}).base_url.startswith("http://models.example")


def _ask(settings, monkeypatch):
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)  # to this machine alone
    return ask_model(open_model(settings, {}), "sales", Catalog({}), lambda a: a, settings, Mask())


def test_a_server_that_is_not_there_is_an_answer_of_none(monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = _ask(_settings(url=f"http://127.0.0.1:{port}/v1"), monkeypatch)
    assert found.result is None
    assert found.why.startswith("it does not answer: ModelConnectionError")
    assert found.usage.tries == 1  # the provider's package does not try again by itself


def test_a_server_at_a_url_never_gets_the_key_of_openai(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    seen = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self):
            seen.append((self.path, dict(self.headers)))
            self.send_error(503)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Server) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            found = _ask(_settings(url=f"http://127.0.0.1:{server.server_port}/v1"), monkeypatch)
        finally:
            server.shutdown()
            thread.join()
    assert found.result is None
    [(path, headers)] = seen
    assert path == "/v1/chat/completions"
    assert "sk-of-openai" not in str(headers)
