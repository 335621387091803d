from pathlib import Path

import pytest

from streamhouse.errors import JavaMissingError
from streamhouse.install.java import find_java


def install(folder: Path, version: str | None, *, answer: str | None = None) -> Path:
    """A Java installation: with a `release` file, or one whose command tells its version."""
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{answer or ''}\nEND\n")
    java.chmod(0o755)
    if version is not None:
        (folder / "release").write_text(f'IMPLEMENTOR="Someone"\nJAVA_VERSION="{version}"\n')
    return folder


def test_java_home_comes_before_path(tmp_path):
    here, there = install(tmp_path / "a", "17.0.15"), install(tmp_path / "b", "21")
    java = find_java({"JAVA_HOME": str(here), "PATH": str(there / "bin")})
    assert (java.home, java.version, java.executable) == (here, 17, here / "bin" / "java")


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "16"])
def test_one_that_is_too_old_is_passed_over(tmp_path, version):
    old, new = install(tmp_path / "a", version), install(tmp_path / "b", "25-ea")
    assert find_java({"JAVA_HOME": str(old), "PATH": str(new / "bin")}).version == 25


def test_a_link_leads_to_the_installation(tmp_path):
    home = install(tmp_path / "jdk", "17.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "bin")}).home == home


def test_one_without_release_file_is_asked(tmp_path):
    answer = f"Picked up JAVA_TOOL_OPTIONS: -Dx=y\n    java.home = {tmp_path}/real\n    java.version = 17.0.2\n"
    launcher = install(tmp_path / "launcher", None, answer=answer)
    java = find_java({"PATH": str(launcher / "bin")})
    assert (java.home, java.version) == (tmp_path / "real", 17)


def test_none_is_told_with_a_remedy(tmp_path):
    with pytest.raises(JavaMissingError) as told:
        find_java({})
    assert (
        told.value.message == "Java 17 or later is needed: no Java found: JAVA_HOME is not set and PATH has no 'java'"
    )
    assert "install a JDK 17" in told.value.hint


def test_each_refused_one_is_told_with_its_reason(tmp_path):
    old = install(tmp_path / "old", "11.0.2")
    with pytest.raises(JavaMissingError) as told:
        find_java({"JAVA_HOME": str(tmp_path / "none"), "PATH": str(old / "bin")})
    assert f"JAVA_HOME ({tmp_path}/none/bin/java) holds no Java that answers; PATH has Java 11" in told.value.message


def test_a_command_that_says_nothing_is_no_java(tmp_path):
    with pytest.raises(JavaMissingError, match="holds no Java that answers"):
        find_java({"JAVA_HOME": str(install(tmp_path / "mute", None))})
