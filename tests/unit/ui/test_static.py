import hashlib
import json
import re
import subprocess
import sys

import pytest

from streamhouse.ui.app import STATIC
from tests.tables import each

VENDOR = STATIC / "vendor"
PINNED = json.loads((VENDOR / "versions.json").read_text())
OWN = sorted(
    path for path in STATIC.rglob("*") if path.suffix in {".js", ".css", ".html"} and VENDOR not in path.parents
)
_OF_NO_PERSON = {"visibilitychange"}
"""What a page does then, it does anyway when it begins."""
_NAMESPACE = "http://www.w3.org/2000/svg"


@pytest.mark.parametrize("package", PINNED)
def test_a_library_is_what_was_pinned(package):
    one = PINNED[package]
    assert re.fullmatch(r"\d+\.\d+\.\d+", one["version"])
    assert one["license"] in {"MIT", "Apache-2.0", "BSD-3-Clause"}
    for name, expected in one["sha256"].items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == expected, f"{name}: scripts/vendor_ui.py"
    assert any(name.endswith(".LICENSE") for name in one["sha256"])


def test_every_library_is_pinned():
    named = {name for one in PINNED.values() for name in one["sha256"]} | {"versions.json"}
    assert {path.name for path in VENDOR.iterdir()} == named


@each("path", OWN, ids=lambda path: str(path.relative_to(STATIC)))
def test_nothing_comes_from_elsewhere(path):
    text = path.read_text().replace(_NAMESPACE, "")
    assert not re.search(r"""https?://|(src|href)=["']/|url\(["']?(?!data:|#)""", text)


@pytest.mark.parametrize("path", [p for p in OWN if p.suffix == ".js"], ids=lambda path: str(path.relative_to(STATIC)))
def test_every_import_is_a_file(path):
    for found in re.findall(r"""(?:from|import)\s*\(?\s*["']([^"']+)["']""", path.read_text()):
        assert (path.parent / found).is_file(), found


@pytest.mark.parametrize("path", [p for p in OWN if p.suffix == ".js"], ids=lambda path: str(path.relative_to(STATIC)))
def test_the_page_listens_to_people_before_they_see_it(path):
    """`useEffect` runs after the page is painted: a key or a navigation before it would be lost."""
    text = path.read_text()
    for found in re.finditer(r"""addEventListener\(\s*["'](\w+)""", text):
        effects = re.findall(r"\buse(?:Layout)?Effect\(", text[: found.start()])
        if found[1] not in _OF_NO_PERSON:
            assert effects[-1:] in ([], ["useLayoutEffect("]), found[0]


def test_the_page_loads_no_engine():
    code = (
        "import sys, streamhouse.ui.app\n"
        "print([m for m in ('pyspark', 'pyarrow', 'duckdb', 'fluss', 'pypaimon', 'airflow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
