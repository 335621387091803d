"""A real schema registry for tests: Apicurio, by Confluent's API; and a door before it that asks for a login."""

import json
import shutil
import signal
import ssl
import subprocess
import tarfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from streamhouse.install.java import find_java
from streamhouse.services.ports import LOOPBACK
from tests.ivy import fetched, retrieve
from tests.patience import PATIENCE_S, until
from tests.ports import take_ports
from tests.production import process

VERSION = "2.6.13.Final"  # the newest that runs on Java 17
_IVY = f"""\
<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="tests" module="registry"/>
  <dependencies>
    <dependency org="io.apicurio" name="apicurio-registry-app" rev="{VERSION}" transitive="false">
      <artifact name="apicurio-registry-app" type="tar.gz" ext="tar.gz" m:classifier="all"/>
    </dependency>
  </dependencies>
</ivy-module>
"""


class Registry:
    """What a test does with a registry."""

    def __init__(self, url: str) -> None:
        self.url = url

    def register(self, subject: str, schema: Any, kind: str = "AVRO", references: Any = ()) -> int:
        """The id of a new version of a subject."""
        text = schema if isinstance(schema, str) else json.dumps(schema)
        body = {"schema": text, "schemaType": kind, "references": list(references)}
        data = json.dumps(body).encode()
        headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
        with urlopen(Request(f"{self.url}/subjects/{subject}/versions", data, headers)) as answer:
            return int(json.load(answer)["id"])


@contextmanager
def registry(folder: Path, port: int | None = None) -> Iterator[Registry]:
    """A new registry with nothing in it, in memory; it ends with the block."""
    home = _home()
    (own,) = [port] if port else take_ports(1)
    (jar,) = home.glob("*-runner.jar")
    command = [
        *(str(find_java().executable), "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *(f"-Dquarkus.http.port={own}", f"-Dquarkus.http.host={LOOPBACK}", "-jar", str(jar)),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    found = Registry(f"http://{LOOPBACK}:{own}/apis/ccompat/v7")
    with process(command, folder / "log", signal.SIGTERM):
        _until_answers(f"{found.url}/subjects")
        yield found


@contextmanager
def guarded(inner: Registry, folder: Path, user: str, password: str) -> Iterator[tuple[str, Path]]:
    """URL of a door to a registry that speaks TLS and asks for a login, and the file of its certificate."""
    folder.mkdir(parents=True, exist_ok=True)
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=registry"),
            *("-addext", f"subjectAltName=IP:{LOOPBACK}", "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    wanted = f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body = 401, b'{"error_code": 401, "message": "Unauthorized"}'
            if self.headers.get("Authorization") == wanted:
                try:
                    with urlopen(f"{inner.url}{self.path}") as answer:
                        status, body = answer.status, answer.read()
                except HTTPError as error:
                    status, body = error.code, error.read()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer((LOOPBACK, 0), Door)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://{LOOPBACK}:{server.server_port}", certificate
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def framed(number: int, body: bytes) -> bytes:
    """A message as Confluent's serializers write it."""
    return b"\0" + number.to_bytes(4, "big") + body


def _until_answers(url: str) -> None:
    def answers() -> bool:
        try:
            urlopen(url, timeout=PATIENCE_S).close()
        except (URLError, OSError):
            return False
        return True

    until(answers, what="an answer of the registry")


def _home() -> Path:
    """The folder of the registry's program."""
    return fetched(f"apicurio-registry-{VERSION}", "a schema registry", _fetch)


def _fetch(place: Path, folder: Path) -> None:
    (place / "ivy.xml").write_text(_IVY)
    retrieve(place, "-ivy", f"{place}/ivy.xml", "-retrieve", f"{place}/[artifact].[ext]")
    with tarfile.open(place / "apicurio-registry-app.tar.gz") as packed:
        packed.extractall(place / "home", filter="data")
    shutil.move(place / "home", folder)
