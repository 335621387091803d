"""A project that really ran, its page, and a real browser in front of it."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from filelock import FileLock

from tests.command import COMMAND, address_of, clean_environment, document_of
from tests.patience import PATIENCE_S

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def environment():
    return clean_environment()


@pytest.fixture(scope="session")
def streamhouse(environment):
    """Runs the command as a person would and returns its JSON."""
    return partial(document_of, environment=environment)


@pytest.fixture(scope="session")
def shop(tmp_path_factory, streamhouse, environment) -> Iterator[Path]:
    """The small shop of `init` after one real run; its services stay up for these tests."""
    folder = tmp_path_factory.mktemp("ui") / "shop"
    streamhouse("init", str(folder), cwd=folder.parent)
    streamhouse("services", "up", cwd=folder)
    try:
        streamhouse("run", "orders", "--once", cwd=folder)
        yield folder
    finally:
        subprocess.run([*COMMAND, "services", "down"], cwd=folder, env=environment, check=True, timeout=PATIENCE_S)


@contextmanager
def served(project: Path, environment: dict[str, str]) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """`streamhouse ui` of a project: its address with the token, and its process."""
    server = subprocess.Popen(
        [*COMMAND, "ui", "--no-open", "--json"], cwd=project, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        yield address_of(server), server
    finally:
        if server.poll() is None:
            server.send_signal(signal.SIGINT)
        server.wait(PATIENCE_S)


@pytest.fixture(scope="session")
def address(shop, environment) -> Iterator[str]:
    """The page of the shop, with its token."""
    with served(shop, environment) as (url, server):
        yield url
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE_S) == 0, "Ctrl-C ends it cleanly"


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser; installed from Debian's packages where it is missing and may be."""
    with FileLock(Path(tempfile.gettempdir()) / "streamhouse-chromium.lock"):  # apt-get refuses a second one beside it
        found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
            quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            for step in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", "chromium"]):
                subprocess.run(["apt-get", *step], env=quiet, check=False, stdout=subprocess.DEVNULL)
            found = shutil.which("chromium")
    if found is None:
        pytest.fail("these tests need a browser: install Debian's package 'chromium', or have one on the PATH")
    return found


@pytest.fixture(scope="module")  # an event loop runs in this thread for as long, and others want to run one, too
def browser(chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser, address, tmp_path) -> Iterator:
    """Opens the page signed in; at the end nothing may have gone wrong in it, nor anything come from elsewhere."""
    contexts, wrong = [], []
    origin = address.partition("/?")[0]

    def opened(place="#/flows", *, theme="light", width=1280):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "response",
            lambda got: wrong.append(f"{got.status} {got.url} {got.text()[:300]}") if got.status >= 500 else None,
        )
        page.on("request", lambda asked: None if asked.url.startswith(origin) else wrong.append(f"from {asked.url}"))
        page.goto(f"{address}{place}")
        page.wait_for_selector("main h1")
        return page

    opened.wrong = wrong
    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def shot(tmp_path):
    """Takes a picture for people to look at: below STREAMHOUSE_SHOTS, else in the test's own folder."""
    folder = Path(os.environ.get("STREAMHOUSE_SHOTS") or tmp_path)

    def take(page, name):
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png")

    return take
