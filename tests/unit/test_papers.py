"""What is shipped has its licence, and the papers name what is there."""

import json
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from streamhouse.install import jars

ROOT = Path(__file__).parents[2]
VENDOR = ROOT / "plugins" / "streamhouse" / "ui" / "static" / "vendor"
NOTICE = (ROOT / "NOTICE").read_text()


def audit():
    spec = spec_from_file_location("audit", ROOT / "scripts" / "audit.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_licence_is_the_one_that_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text()
    assert all(list(ROOT.glob(pattern)) for pattern in project["license-files"])


def test_every_part_of_the_page_is_named_with_its_licence():
    for name, what in json.loads((VENDOR / "versions.json").read_text()).items():
        assert f"{name} {what['version']}: {what['license']}" in NOTICE


def test_every_jar_is_named():
    optional = (jars.PAIMON_S3_JAR, jars.ICEBERG_S3_JAR, jars.POSTGRESQL_JAR)
    for jar in (*jars.SERVER_JARS, *jars.SPARK_JARS, *optional):
        assert f"{jar.group}:{jar.artifact} {jar.version}: " in NOTICE


def test_the_audit_says_when_it_compared_nothing(capsys):
    found = audit()
    assert found.no_data("a\nno route to host\n") == 2
    assert capsys.readouterr().err == "no data: nothing was compared. no route to host\n"
    assert found.told({"dependencies": []}) == 2
    assert found.told({"dependencies": [{"name": "a", "skip_reason": "not on the index"}]}) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "no data: nothing was compared. not on the index"
    some = {"dependencies": [{"name": "a", "skip_reason": "unknown"}, {"name": "b", "version": "1", "vulns": []}]}
    assert found.told(some) == 2
    assert "a: not compared: unknown" in capsys.readouterr().out


def test_the_audit_names_what_it_found(capsys):
    weak = {"name": "b", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}
    assert audit().told({"dependencies": [{"name": "a", "version": "1", "vulns": []}, weak]}) == 1
    assert capsys.readouterr().out == "b 1: CVE-1, mended in 2\n2 packages compared, 1 with advisories\n"


def test_python_runs_the_audit_without_our_environment():
    code = compile((ROOT / "scripts" / "audit.py").read_text(), "audit.py", "exec")
    assert not {name for name in code.co_names if name not in sys.stdlib_module_names} & {"streamhouse", "pydantic"}
