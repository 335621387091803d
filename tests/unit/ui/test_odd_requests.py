"""Requests that no browser sends, by their bytes: none opens anything, and the server goes on."""

import logging
import socket
import threading

import pytest

from streamhouse.services.ports import bound
from streamhouse.ui import web_server
from streamhouse.ui.alone import Gate
from streamhouse.ui.app import create_app
from streamhouse.ui.desk import Desk
from streamhouse.ui.web_server import TellingServer, server_config
from tests.patience import PATIENCE_S

BIG = b"x" * 200_000
MANY = [b"X%d: 1" % at for at in range(3000)]
LENGTHS = [b"Content-Length: 1", b"Content-Length: 2"]
FAR = b"Range: bytes=" + b"9" * 5000 + b"-"
PARTS = b"Transfer-Encoding: chunked"
CUT = {"0.9", "cut", "cut in a part", "HTTP/2 by its first bytes", "upgrade"}


class Page:
    """The page over a real socket."""

    def __init__(self, gate, port):
        self.gate, self.port = gate, port
        self.here = f"127.0.0.1:{port}".encode()

    def sent(self, request, *, is_cut=False):
        """The answer as bytes; empty: the connection is closed without one.

        `is_cut`: nothing more comes, though the request says so.
        """
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S) as opened:
            try:
                opened.sendall(request)
                if is_cut:
                    opened.shutdown(socket.SHUT_WR)
                found = b""
                while part := opened.recv(65536):
                    found += part
            except ConnectionError:
                return b""
        return found


@pytest.fixture
def page(project, caplog):
    caplog.set_level(logging.WARNING)
    desk, listens = Desk(project), threading.Event()
    with bound(None) as listening:
        port = listening.getsockname()[1]
        gate = Gate(port, "ada")
        app = create_app(lambda: desk, gate.person, where="alone", engine=lambda: None)
        server = TellingServer(server_config(gate.around(app), 2, "off"), listens.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            assert listens.wait(PATIENCE_S)
            yield Page(gate, port)
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)
            desk.close()


def asks(target, *headers, version=b"HTTP/1.1", method=b"GET", body=b""):
    return b"\r\n".join([method + b" " + target + b" " + version, *headers, b"", body])


def test_each_odd_request_has_an_answer(page, caplog, subtests):
    host, token = b"Host: " + page.here, page.gate.token.encode()
    key = b"Authorization: Bearer " + token
    close, ours = b"Connection: close", b"X-Streamhouse: 1"
    post = [host, key, ours, b"Content-Type: application/json", close]
    closed = {  # request → statuses that it may have; None: the connection is closed
        "no host": (asks(b"/api/flows", key, close), {400, 421}),
        "empty host": (asks(b"/api/flows", b"Host:", key, close), {400, 421}),
        "bytes": (asks(b"/api/flows", b"Host: \xff\xfe\xe9", key, close), {400, 421}),
        "two hosts": (asks(b"/api/flows", host, b"Host: evil", key, close), {400, 421}),
        "two hosts, ours last": (asks(b"/api/flows", b"Host: evil", host, key, close), {400, 421}),
        "twice ours": (asks(b"/api/flows", host, host, key, close), {400, 421}),
        "a list": (asks(b"/api/flows", host + b", evil", key, close), {400, 421}),
        "a person in the host": (asks(b"/api/flows", b"Host: a@" + page.here, key, close), {400, 421}),
        "absolute": (asks(b"http://evil/api/flows", b"Host: evil", key, close), {400, 404, 421}),
        "absolute, no key": (asks(b"http://" + page.here + b"/api/flows", host, close), {400, 401, 404}),
        "authority": (asks(b"evil:80", host, key, close, method=b"CONNECT"), {400, 404, 405}),
        "star": (asks(b"*", host, key, close, method=b"OPTIONS"), {400, 404, 405}),
        "0.9": (b"GET /api/flows\r\n", {400, None}),
        "1.0 without host": (asks(b"/api/flows", key, version=b"HTTP/1.0"), {400, 421}),
        "2.0": (asks(b"/api/flows", close, version=b"HTTP/2.0"), {400, 421, 505, None}),
        "huge header": (asks(b"/api/flows", host, b"X: " + BIG, close), {400, 401, 431, None}),
        "huge cookie": (asks(b"/api/flows", host, b"Cookie: a=" + BIG, close), {400, 401, 431, None}),
        "many headers": (asks(b"/api/flows", host, *MANY, close), {400, 401, 431, None}),
        "huge target": (asks(b"/" + BIG, host, key, close), {400, 404, 414, 431, None}),
        "odd cookies": (asks(b"/api/flows", host, b"Cookie: ;;=;\xff=\xfe; =; streamhouse-1", close), {400, 401}),
        "two cookies": (asks(b"/api/flows", host, b"Cookie: streamhouse-%d=x" % page.port, close), {401}),
        "a header of two lines": (asks(b"/api/flows", host, b"X: a\r\n b: c", close), {400, 401}),
        "a header without a name": (asks(b"/api/flows", host, b": a", close), {400, 401}),
        "NUL in a header": (asks(b"/api/flows", host, b"X: a\0b", close), {400, 401, None}),
        "NUL in the path": (asks(b"/static/app.css%00.js", host, key, close), {400}),
        "bytes in the path": (asks(b"/api/\xff\xfe", host, key, close), {400, 404}),
        "no UTF-8 in the path": (asks(b"/static/%ff%fe", host, key, close), {400, 404}),
        "up": (asks(b"/static/../../../../etc/passwd", host, key, close), {400, 404}),
        "up, written": (asks(b"/static/..%2f..%2f..%2fetc%2fpasswd", host, key, close), {400, 404}),
        "up, written twice": (asks(b"/static/..%252f..%252fapp.py", host, key, close), {400, 404}),
        "up, the other way": (asks(b"/static/..%5c..%5capp.py", host, key, close), {400, 404}),
        "from the root": (asks(b"/static//etc/passwd", host, key, close), {400, 404}),
        "the folder": (asks(b"/static/", host, key, close), {400, 404, 405}),
        "a long name": (asks(b"/static/" + b"a" * 5000, host, key, close), {400, 404, 414}),
        "a table that is none": (asks(b"/api/tables/..%2f..", host, key, close), {400, 404}),
        "range": (asks(b"/static/app.css", host, key, b"Range: bytes=0-1", close), {200, 206}),
        "odd range": (asks(b"/static/app.css", host, key, b"Range: bytes=9-1", close), {200, 400, 416}),
        "range that is none": (asks(b"/static/app.css", host, key, b"Range: \xff", close), {200, 400, 416}),
        "far range": (asks(b"/static/app.css", host, key, FAR, close), {200, 400, 416}),
        "many ranges": (
            asks(b"/static/app.css", host, key, b"Range: bytes=" + b",".join([b"0-"] * 5000), close),
            {200, 206, 400, 416},
        ),
        "an ETag that is none": (asks(b"/static/app.css", host, key, b"If-None-Match: \xff", close), {200}),
        "a date that is none": (asks(b"/static/app.css", host, key, b"If-Modified-Since: \xff", close), {200, 400}),
        "a range since a date that is none": (
            asks(b"/static/app.css", host, key, b"Range: bytes=0-1", b"If-Range: \xff", close),
            {200, 206, 400},
        ),
        "length that is none": (asks(b"/api/query", *post, b"Content-Length: x", method=b"POST"), {400, None}),
        "length below zero": (asks(b"/api/query", *post, b"Content-Length: -1", method=b"POST"), {400, None}),
        "two lengths": (asks(b"/api/query", *post, *LENGTHS, method=b"POST"), {400, None}),
        "length of more digits than fit": (
            asks(b"/api/query", *post, b"Content-Length: " + b"9" * 5000, method=b"POST"),
            {400, 413, None},
        ),
        "digits that are no ASCII": (asks(b"/api/query", *post, b"Content-Length: \xb2", method=b"POST"), {400, None}),
        "length and parts": (
            asks(b"/api/query", *post, b"Content-Length: 2", PARTS, method=b"POST", body=b"0\r\n\r\n"),
            {400, 422, None},
        ),
        "parts": (
            asks(b"/api/query", *post, PARTS, method=b"POST", body=b"2\r\n{}\r\n0\r\n\r\n"),
            {422},
        ),
        "a part of no length": (
            asks(b"/api/query", *post, PARTS, method=b"POST", body=b"zz\r\n{}\r\n"),
            {400, None},
        ),
        "cut in a part": (
            asks(b"/api/query", *post, PARTS, method=b"POST", body=b"ff\r\n{}"),
            {400, None},
        ),
        "cut": (asks(b"/api/query", *post, b"Content-Length: 100", method=b"POST", body=b"{"), {400, None}),
        "no UTF-8": (asks(b"/api/query", *post, b"Content-Length: 2", method=b"POST", body=b"\xff\xfe"), {422}),
        "deep": (
            asks(b"/api/query", *post, b"Content-Length: 100000", method=b"POST", body=b"[" * 100_000),
            {422},
        ),
        "a lone half of a pair": (
            asks(b"/api/query", *post, b"Content-Length: 16", method=b"POST", body=b'{"sql":"\\ud800"}'),
            {400, 403, 422, 503},
        ),
        "another way of text": (
            asks(b"/api/query", host, key, ours, b"Content-Type: text/plain; charset=\xff", b"Content-Length: 2", close,
                 method=b"POST", body=b"{}"),
            {400, 403, 415, 422},
        ),
        "a method that is none": (asks(b"/api/flows", host, key, close, method=b"G\xe9T"), {400, None}),
        "TRACE": (asks(b"/api/flows", host, key, close, method=b"TRACE"), {400, 405}),
        "upgrade": (
            asks(b"/api/flows", host, b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13",
                 b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
            {400, 401, 403, 404, 426},
        ),
        "HTTP/2 by its first bytes": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 421, 505, None}),
        "a hidden second request": (
            asks(b"/api/flows", host, key, b"Content-Length: 0\r\n\r\nGET /api/project HTTP/1.1", host, close),
            {200},
        ),
    }  # fmt: skip
    for name, (request, wanted) in closed.items():
        with subtests.test(name):
            caplog.clear()
            found = page.sent(request, is_cut=name in CUT)
            status = int(found.split()[1]) if found.startswith(b"HTTP/") else None
            assert status in wanted, (name, found[:300])
            assert b"root:x:" not in found
            assert b"Traceback" not in found
            assert [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR] == [], name
            assert page.sent(asks(b"/api/flows", host, key, close)).startswith(b"HTTP/1.1 200"), "the server goes on"


@pytest.mark.parametrize("sent", [b"", b"GET /api/flows HTTP/1.1\r\nHost: ", b"G"])
def test_a_client_that_sends_no_whole_request_is_left(page, monkeypatch, sent):
    monkeypatch.setattr(web_server, "HEADERS_S", 0.01)
    assert page.sent(sent) == b""


def test_a_client_that_was_answered_and_sends_half_a_request_is_left(page, monkeypatch):
    request = asks(b"/api/flows", b"Host: " + page.here, b"Authorization: Bearer " + page.gate.token.encode())
    with socket.create_connection(("127.0.0.1", page.port), timeout=PATIENCE_S) as opened:
        opened.sendall(request)
        found = b""
        while b"\r\n\r\n" not in found:
            found += opened.recv(65536)
        assert found.startswith(b"HTTP/1.1 200")
        monkeypatch.setattr(web_server, "HEADERS_S", 0.01)
        opened.sendall(b"GET /api/flows HTTP/1.1\r\nHost: ")
        try:
            while opened.recv(65536):
                pass
        except ConnectionError:
            pass  # closed with bytes of ours unread
