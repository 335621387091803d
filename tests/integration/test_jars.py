"""Fetching jars with the real Ivy, from a Maven repository on this machine's loopback interface."""

import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from streamhouse.errors import EnvironmentProblem, JarDownloadError
from streamhouse.install.jars import Jar, fetch
from tests.gate.levels import deep
from tests.patience import PATIENCE_S, until

pytestmark = deep(
    "odd mirrors; a checksum, a jar that is not ours and two processes stay",
    only=(
        "test_a_jar_that_nobody_has_is_told",
        "test_a_damaged_cache_is_mended",
        "test_a_download_that_was_cut_off_leaves_nothing_half_and_is_done_again",
        "test_no_network_is_told_with_its_reason",
        "test_the_mirror_can_be_named_in_the_environment",
    ),
)

PLUGINS = Path(__file__).parents[2] / "plugins"
POM = b"<project><groupId>org.example</groupId><artifactId>thing</artifactId><version>1.0</version></project>"
SETTINGS = """\
<ivysettings>
  <settings defaultResolver="mirror"/>
  <resolvers><ibiblio name="mirror" m2compatible="true" root="{root}"/></resolvers>
</ivysettings>
"""


def a_jar(size=1_000_000):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("data", os.urandom(size))
    return content.getvalue()


CONTENT = a_jar()
JAR = Jar("org.example", "thing", "1.0", 1_000_000, hashlib.sha256(CONTENT).hexdigest())


class Repository(ThreadingHTTPServer):
    """Serves one jar; may hand it out slowly, or with the checksum of another."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.jar = CONTENT
        self.sha1 = hashlib.sha1(self.jar, usedforsecurity=False).hexdigest()
        self.hold_after = None  # bytes; then wait for `go_on`
        self.go_on = threading.Event()
        self.downloads = 0

    @property
    def root(self):
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        files = {".pom": POM, ".jar": self.server.jar, ".jar.sha1": self.server.sha1.encode()}
        name = self.path.removeprefix("/org/example/thing/1.0/thing-1.0")
        if name not in files:
            self.send_error(404)
            return
        content = files[name]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if name == ".jar":
            self.server.downloads += 1
            if self.server.hold_after is not None:
                self.wfile.write(content[: self.server.hold_after])
                self.wfile.flush()
                self.server.go_on.wait(PATIENCE_S)
                content = content[self.server.hold_after :]
        try:
            self.wfile.write(content)
        except ConnectionError:  # the reader was killed
            self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.fixture
def repository():
    with Repository() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.go_on.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def settings(repository, tmp_path):
    file = tmp_path / "ivysettings.xml"
    file.write_text(SETTINGS.format(root=repository.root))
    return file


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache of jars"


def in_another_process(settings, cache):
    code = (
        "import sys; from pathlib import Path; from streamhouse.install.jars import Jar, fetch\n"
        f"fetch([Jar({JAR.group!r}, {JAR.artifact!r}, {JAR.version!r}, 1, {JAR.sha256!r})],"
        " settings=Path(sys.argv[1]), cache=Path(sys.argv[2]), progress=lambda stage: print(stage.text, flush=True))"
    )
    environment = {**os.environ, "PYTHONPATH": str(PLUGINS)}
    # A session of its own, so that all of it can be killed at once, as by a machine that stops.
    return subprocess.Popen(
        [sys.executable, "-c", code, settings, cache],
        env=environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_jar_comes_from_the_mirror_of_the_settings_file_and_then_from_the_cache(repository, settings, cache):
    stages = []
    [file] = fetch([JAR], settings=settings, cache=cache, progress=stages.append)
    assert file.read_bytes() == repository.jar
    assert stages[0].text == "fetching thing 1.0 (0 MB)"
    assert [s.fraction for s in stages] == sorted(s.fraction for s in stages)
    assert stages[-1].fraction == 1.0
    assert fetch([JAR], settings=settings, cache=cache) == [file]
    assert repository.downloads == 1
    assert {f.name for f in cache.iterdir()} == {"thing-1.0.jar", ".lock"}


def test_the_mirror_can_be_named_in_the_environment(repository, settings, cache, monkeypatch):
    monkeypatch.setenv("STREAMHOUSE_IVY_SETTINGS", str(settings))
    assert fetch([JAR], cache=cache)[0].read_bytes() == repository.jar


def test_progress_follows_the_bytes_that_arrive(repository, settings, cache):
    repository.hold_after = 600_000
    fractions = []

    def note(stage):
        fractions.append(stage.fraction)
        if 0.5 < stage.fraction < 0.7:
            repository.go_on.set()

    fetch([JAR], settings=settings, cache=cache, progress=note)
    assert any(0.5 < fraction < 0.7 for fraction in fractions)


def test_a_wrong_checksum_is_refused(repository, settings, cache):
    repository.sha1 = "0" * 40
    with pytest.raises(JarDownloadError) as told:
        fetch([JAR], settings=settings, cache=cache)
    assert told.value.message.startswith("cannot fetch org.example:thing:1.0: ")
    assert "invalid sha1: expected=0000" in told.value.message
    assert not (cache / JAR.file_name).exists()


def test_a_jar_that_nobody_has_is_told(settings, cache):
    with pytest.raises(JarDownloadError, match=r"cannot fetch org\.example:other:2\.0: .*not found") as told:
        fetch([Jar("org.example", "other", "2.0", 1, JAR.sha256)], settings=settings, cache=cache)
    assert "ivy_settings" in told.value.hint
    assert "\n" not in told.value.message


def test_no_network_is_told_with_its_reason(repository, settings, cache):
    settings.write_text(SETTINGS.format(root="http://127.0.0.1:1/"))
    with pytest.raises(JarDownloadError, match=r"Connection refused|ConnectException|Server access error"):
        fetch([JAR], settings=settings, cache=cache)


def test_settings_that_do_not_exist_are_told(tmp_path, cache):
    with pytest.raises(EnvironmentProblem, match=r"the Ivy settings file .*nope\.xml does not exist"):
        fetch([JAR], settings=tmp_path / "nope.xml", cache=cache)


def test_a_download_that_was_cut_off_leaves_nothing_half_and_is_done_again(repository, settings, cache):
    repository.hold_after = 300_000
    other = in_another_process(settings, cache)
    until(lambda: any(part.stat().st_size for part in cache.glob(".fetch-*/**/*.part")))
    os.killpg(other.pid, signal.SIGKILL)
    other.wait()
    assert list(cache.glob("*.jar")) == []
    assert list(cache.glob(".fetch-*"))
    repository.go_on.set()
    [file] = fetch([JAR], settings=settings, cache=cache)
    assert file.read_bytes() == repository.jar
    assert list(cache.glob(".fetch-*")) == []


def test_two_processes_download_once(repository, settings, cache):
    repository.hold_after = 300_000
    others = [in_another_process(settings, cache) for _ in range(2)]
    # Each says what it does before the first is let go on.
    assert {other.stdout.readline() for other in others} == {
        "fetching thing 1.0 (0 MB)\n",
        "waiting for another process that fetches jars\n",
    }
    until(lambda: repository.downloads)
    repository.go_on.set()
    assert [other.wait(PATIENCE_S) for other in others] == [0, 0]
    assert repository.downloads == 1
    assert (cache / JAR.file_name).read_bytes() == repository.jar


def test_a_damaged_cache_is_mended(repository, settings, cache):
    [file] = fetch([JAR], settings=settings, cache=cache)
    shutil.copy(__file__, file)
    fetch([JAR], settings=settings, cache=cache)
    assert file.read_bytes() == repository.jar


def test_another_jar_than_ours_is_refused_though_its_checksum_is_right(repository, settings, cache):
    repository.jar = a_jar()
    repository.sha1 = hashlib.sha1(repository.jar, usedforsecurity=False).hexdigest()
    with pytest.raises(JarDownloadError, match=r"another file than the one we know: its SHA-256 is \w{64}, not \w{64}"):
        fetch([JAR], settings=settings, cache=cache)
    assert not (cache / JAR.file_name).exists()
    assert list(cache.glob(".fetch-*")) == []
