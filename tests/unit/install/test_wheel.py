"""The wheel has all that a user needs, and what it installs works away from the repository."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.command import clean_environment
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "plugins" / "streamhouse"
_LEFT_OUT = {"__pycache__"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel's files in a folder that comes before the editable install."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def streamhouse(installed, *words, cwd):
    return subprocess.run(
        [sys.executable, "-P", "-m", "streamhouse", *words],
        cwd=cwd,
        env=clean_environment() | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


def files(folder):
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in found if not _LEFT_OUT & set(path.parts)}


def test_the_wheel_has_each_file_of_the_package(installed):
    assert files(installed / "streamhouse") == files(PACKAGE)


def test_the_wheel_has_the_command_and_the_licences(installed):
    (info,) = installed.glob("streamhouse-*.dist-info")
    assert "streamhouse = streamhouse.cli.main:entry" in (info / "entry_points.txt").read_text()
    names = {path.name for path in (info / "licenses").rglob("*") if path.is_file()}
    assert {"LICENSE", "NOTICE"} < names
    assert {path.name for path in PACKAGE.glob("ui/static/vendor/*.LICENSE")} < names


def test_a_project_is_made_and_checked_by_what_was_installed(installed, tmp_path):
    where = [sys.executable, "-P", "-c", "import streamhouse; print(streamhouse.__file__)"]
    environment = clean_environment() | {"PYTHONPATH": str(installed)}
    found = subprocess.run(where, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, cwd=tmp_path)
    assert found.stdout.startswith(str(installed))
    made = streamhouse(installed, "init", "shop", "--template", "orders", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    checked = streamhouse(installed, "validate", cwd=tmp_path / "shop")
    assert checked.returncode == 0, checked.stderr
