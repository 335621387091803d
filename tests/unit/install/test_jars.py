import zipfile
from hashlib import sha256
from io import BytesIO

import pytest

from streamhouse.errors import EnvironmentProblem, JarDownloadError, JavaMissingError
from streamhouse.install import jars
from streamhouse.install.jars import SERVER_JARS, SPARK_JARS, Jar, cache_folder, fetch


def content():
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr(zipfile.ZipInfo("a.txt"), "a" * 5000)
    return made.getvalue()


SHA256 = sha256(content()).hexdigest()
JAR = Jar("org.example", "thing", "1.0", 1000, SHA256)
OTHER = Jar("org.example", "other", "2.0", 1000, SHA256)


@pytest.fixture(autouse=True)
def no_java(monkeypatch, tmp_path):
    """Whatever must be downloaded fails here: these tests are about what must not be."""
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("JAVA_HOME", raising=False)


def put(folder, jar):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / jar.file_name).write_bytes(content())
    return folder / jar.file_name


def test_what_is_there_is_returned_in_the_order_asked_for(tmp_path):
    files = [put(tmp_path, OTHER), put(tmp_path, JAR)]
    assert fetch([OTHER, JAR, OTHER], cache=tmp_path) == [*files, files[0]]
    assert sorted(f.name for f in tmp_path.iterdir()) == ["other-2.0.jar", "thing-1.0.jar"]  # not even a lock


def test_half_a_file_is_not_taken_for_a_whole_one(tmp_path):
    whole = put(tmp_path, JAR).read_bytes()
    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        (tmp_path / JAR.file_name).write_bytes(whole[:length])
        with pytest.raises(JavaMissingError):  # that is: it sets out to fetch it
            fetch([JAR], cache=tmp_path)


def test_what_a_killed_download_left_is_removed(tmp_path):
    left = tmp_path / ".fetch-abc"
    (left / "ivy").mkdir(parents=True)
    (left / "ivy" / "thing-1.0.jar.part").write_bytes(b"PK half")
    with pytest.raises(JavaMissingError):
        fetch([JAR], cache=tmp_path)
    assert not left.exists()


def test_a_cache_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentProblem, match="cannot write to"):
        fetch([JAR], cache=tmp_path / "file" / "jars")


def test_the_cache_is_per_user_and_can_be_moved(monkeypatch, tmp_path):
    monkeypatch.setenv("STREAMHOUSE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path / "jars"
    monkeypatch.setenv("STREAMHOUSE_CACHE", "~/elsewhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "elsewhere" / "jars"
    monkeypatch.delenv("STREAMHOUSE_CACHE")
    assert cache_folder() == tmp_path / ".cache" / "streamhouse" / "jars"


def test_no_two_jars_share_a_file_and_logging_is_of_one_version():
    every = [*SERVER_JARS, *SPARK_JARS]
    assert len({jar.file_name for jar in every}) == len(every)
    assert len({jar.version for jar in every if jar.group == "org.slf4j"}) == 1
    assert len({jar.version for jar in every if jar.group == "org.apache.fluss"}) == 1
    assert str(jars.FLUSS_SERVER) == "org.apache.fluss:fluss-server:0.9.1-incubating"


def test_another_jar_in_the_cache_is_not_run(tmp_path):
    file = put(tmp_path, JAR)
    with zipfile.ZipFile(file, "a") as changed:
        changed.writestr("Evil.class", "b")
    with pytest.raises(JarDownloadError) as refused:
        fetch([JAR], cache=tmp_path)
    assert refused.value.message.startswith(f"{file} is not the org.example:thing:1.0 that we know: its SHA-256 is ")
    file.unlink()
    put(tmp_path, JAR)
    assert fetch([JAR], cache=tmp_path) == [file]


def test_every_jar_is_known_by_its_checksum():
    optional = (jars.PAIMON_S3_JAR, jars.ICEBERG_S3_JAR, jars.POSTGRESQL_JAR)
    known = [jar.sha256 for jar in (*SERVER_JARS, *SPARK_JARS, *optional)]
    assert all(len(one) == 64 and set(one) <= set("0123456789abcdef") for one in known)
    assert len(set(known)) == len(known)
