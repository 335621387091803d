import platform

import pytest

from streamhouse.cli.main import main


def told(capsys):
    assert main(["--version"]) == 0
    return dict(line.split(" ", 1) for line in capsys.readouterr().out.splitlines())


def test_it_names_what_it_found(capsys):
    found = told(capsys)
    assert list(found)[:3] == ["streamhouse", "python", "java"]
    assert found["python"] == platform.python_version()
    assert (found["pyspark"], found["pyfluss"]) == ("4.1.4", "1.0.0")  # as pyproject.toml pins them
    assert found["apache-airflow"] == "not installed"  # it has an environment of its own


@pytest.mark.parametrize("home", ["nowhere", ""])
def test_no_java_is_no_error(capsys, monkeypatch, tmp_path, home):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / home) if home else "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert told(capsys)["java"] == "not found"
