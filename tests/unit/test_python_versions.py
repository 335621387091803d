"""The range of Python versions is the one for which every locked package with compiled code has a wheel for Linux."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCKED = {package["name"]: package for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]}
NEEDED = [
    *PROJECT["dependencies"],
    *(one for extra in ("engine", "kafka", "ui") for one in PROJECT["optional-dependencies"][extra]),
]


def names_of(packages):
    """The packages, and what they need, by their names in the lock."""
    pending = [re.match(r"[\w.-]+", one)[0].lower() for one in packages]
    found = set()
    while pending:
        name = pending.pop()
        if name not in found and name in LOCKED:
            found.add(name)
            needs = LOCKED[name].get("dependencies", [])
            pending += [need["name"] for need in needs if "sys_platform == 'win32'" not in need.get("marker", "")]
    return found


def fits(wheel, version):
    """Whether a wheel runs on a version of CPython, such as 312, on Linux."""
    python, abi, platform = wheel.rpartition("/")[2].removesuffix(".whl").split("-")[-3:]
    here = platform == "any" or ("linux" in platform and "x86_64" in platform)
    stable = abi in ("abi3", "none") and any(
        int(n or 0) <= int(version[1:]) for n in re.findall(r"c?p3?y?3?(\d*)", python)
    )
    return here and (f"cp{version}" in python.split(".") or "py3" in python.split(".") or stable)


def without_wheel(version):
    return sorted(
        name
        for name in names_of(NEEDED)
        if (wheels := LOCKED[name].get("wheels")) and not any(fits(wheel["url"], version) for wheel in wheels)
    )


@pytest.mark.parametrize("version", ["311", "312"])
def test_every_package_has_a_wheel(version):
    assert without_wheel(version) == []


def test_the_range_ends_where_a_wheel_is_missing():
    assert PROJECT["requires-python"] == ">=3.11,<3.13"
    assert "pyfluss" in without_wheel("313"), "then the range can be wider: see docs/versions.md"
