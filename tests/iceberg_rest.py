"""A real Iceberg REST catalog, for tests: the reference server of Iceberg, behind a gate that wants OAuth2."""

import json
import os
import secrets
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import parse_qs
from urllib.request import Request, urlopen

from streamhouse.install.jars import ICEBERG_S3_JAR, fetch
from streamhouse.install.java import find_java
from streamhouse.project.settings import ColdSettings
from streamhouse.runtime.cold import cold_catalog
from streamhouse.services.ports import LOOPBACK
from tests.ivy import fetched, retrieve, spark_jars
from tests.ports import take_ports
from tests.production import process, until_open

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VERSION = "1.11.0"
ID, SECRET, SCOPE = "streamhouse", "a-catalog-secret-that-nobody-may-see", "PRINCIPAL_ROLE:ALL"
_MODULE = f"""\
<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="streamhouse" module="iceberg-rest"/>
  <configurations><conf name="default"/></configurations>
  <dependencies defaultconfmapping="*->default">
    <dependency org="org.apache.iceberg" name="iceberg-open-api" rev="{VERSION}" transitive="false">
      <artifact name="iceberg-open-api" type="jar" m:classifier="test-fixtures"/>
    </dependency>
    <dependency org="org.apache.iceberg" name="iceberg-core" rev="{VERSION}">
      <artifact name="iceberg-core" type="jar"/>
      <artifact name="iceberg-core" type="jar" m:classifier="tests"/>
    </dependency>
    <dependency org="org.apache.iceberg" name="iceberg-aws" rev="{VERSION}" transitive="false"/>
    <dependency org="software.amazon.awssdk" name="url-connection-client" rev="2.54.17" transitive="false"/>
    <dependency org="dev.failsafe" name="failsafe" rev="3.3.2" transitive="false"/>
    <dependency org="org.eclipse.jetty.ee10" name="jetty-ee10-servlet" rev="12.1.14"/>
    <dependency org="org.eclipse.jetty.compression" name="jetty-compression-server" rev="12.1.14"/>
    <dependency org="org.eclipse.jetty.compression" name="jetty-compression-gzip" rev="12.1.14"/>
    <dependency org="org.xerial" name="sqlite-jdbc" rev="3.54.1.0"/>
  </dependencies>
</ivy-module>
"""


@dataclass
class Catalog:
    """A running catalog.

    Attributes:
        url: Of the gate; nobody gets in without a token.
        variables: By which a project reaches it.
        calls: Method and path of each request that was let in.
        refused: Those that were not.
    """

    url: str
    variables: dict[str, str]
    calls: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@contextmanager
def rest_catalog(folder: Path, warehouse: str, store: dict[str, str] | None = None) -> Iterator[Catalog]:
    """A catalog whose tables are below `warehouse`; it ends with the block.

    Args:
        folder: For its database and log.
        warehouse: A folder, or a place in the object store of `store`.
        store: As `production.object_store` gives it.
    """
    port, gate = take_ports(2)
    given = {
        "CATALOG_WAREHOUSE": warehouse,
        "CATALOG_REST_PORT": str(port),
        "CATALOG_URI": f"jdbc:sqlite:{folder / 'catalog.db'}",
    }
    if store is not None:
        given |= {
            "CATALOG_IO__IMPL": "org.apache.iceberg.aws.s3.S3FileIO",
            "CATALOG_HTTP__CLIENT_TYPE": "urlconnection",  # our jar of 1.12 has none that 1.11 knows
            "CATALOG_S3_ENDPOINT": store["STREAMHOUSE_S3_ENDPOINT"],
            "CATALOG_S3_PATH__STYLE__ACCESS": "true",
            "AWS_REGION": "us-east-1",
            **{key: value for key, value in store.items() if key.startswith("AWS_")},
        }
    command = [str(find_java().executable), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command += ["-cp", _class_path(with_s3=store is not None), "org.apache.iceberg.rest.RESTCatalogServer"]
    folder.mkdir(parents=True, exist_ok=True)
    with process(command, folder / "catalog.log", signal.SIGTERM, environment={**os.environ, **given}):
        until_open(port)
        with _gate(gate, f"http://{LOOPBACK}:{port}") as catalog:
            yield catalog


def named(spark: "SparkSession", name: str, cold: ColdSettings) -> str:
    """A catalog of that name, as `cold` is made at the start of a session; also in sessions that begin later."""
    for key, value in cold_catalog("", cold).items():
        if key.startswith("spark.sql.catalog.cold"):
            key = key.replace("catalog.cold", f"catalog.{name}")
            spark.conf.set(key, value)
            spark.sparkContext._jsc.sc().conf().set(key, value)
    return name


@contextmanager
def _gate(port: int, behind: str) -> Iterator[Catalog]:
    """Hands requests with a token of its own on; gives one for the right id, secret and scope alone."""
    url = f"http://{LOOPBACK}:{port}/api/catalog"
    names = {"COLD_CATALOG": url, "COLD_CREDENTIAL": f"{ID}:{SECRET}", "COLD_SCOPE": SCOPE}
    catalog = Catalog(url, {f"STREAMHOUSE_{name}": value for name, value in names.items()})
    token = secrets.token_urlsafe()

    class Gate(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.removeprefix("/api/catalog")
            if path == "/v1/oauth/tokens":
                self._give_token(body)
            elif self.headers.get("Authorization") != f"Bearer {token}":
                self._refuse(HTTPStatus.UNAUTHORIZED, "NotAuthorizedException", "no token")
            else:
                catalog.calls.append(f"{self.command} {path}")
                self._hand_on(path, body)

        do_GET = do_POST = do_HEAD = do_DELETE = handle_any  # noqa: N815

        def _give_token(self, body: bytes) -> None:
            asked = {name: values[0] for name, values in parse_qs(body.decode()).items()}
            wanted = {"grant_type": "client_credentials", "client_id": ID, "client_secret": SECRET, "scope": SCOPE}
            if asked != wanted:
                self._refuse(HTTPStatus.UNAUTHORIZED, "NotAuthorizedException", "unknown client or scope")
                return
            answer = {"access_token": token, "token_type": "bearer", "expires_in": 3600}
            self._answer(HTTPStatus.OK, json.dumps(answer).encode())

        def _refuse(self, status: HTTPStatus, kind: str, message: str) -> None:
            catalog.refused.append(f"{self.command} {self.path}")
            error = {"error": {"message": message, "type": kind, "code": status}}
            self._answer(status, json.dumps(error).encode())

        def _hand_on(self, path: str, body: bytes) -> None:
            kept = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "authorization", "connection")}
            request = Request(behind + path, data=body or None, headers=kept, method=self.command)
            try:
                with urlopen(request) as answer:
                    self._answer(answer.status, answer.read(), dict(answer.headers))
            except HTTPError as error:
                self._answer(error.code, error.read(), dict(error.headers))

        def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {"Content-Type": "application/json"}).items():
                if name.lower() not in ("content-length", "transfer-encoding", "connection", "server", "date"):
                    self.send_header(name, value)
            if status not in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED):
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: `calls` and `refused` tell."""

    server = ThreadingHTTPServer((LOOPBACK, port), Gate)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield catalog
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _class_path(*, with_s3: bool) -> str:
    hadoop = sorted(spark_jars().glob("hadoop-client-*.jar"))  # it makes a configuration of Hadoop at its start
    s3 = fetch([ICEBERG_S3_JAR]) if with_s3 else []
    return os.pathsep.join([f"{_jars()}/*", *(str(jar) for jar in (*hadoop, *s3))])


def _jars() -> Path:
    """The folder of the server's jars."""
    return fetched(f"iceberg-rest-{VERSION}", "the REST catalog", _fetch)


def _fetch(place: Path, folder: Path) -> None:
    (place / "ivy.xml").write_text(_MODULE)
    pattern = f"{place}/jars/[artifact]-[revision](-[classifier]).[ext]"
    retrieve(place, "-ivy", f"{place}/ivy.xml", "-retrieve", pattern)
    shutil.move(place / "jars", folder)
