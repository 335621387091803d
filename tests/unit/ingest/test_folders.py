"""Which files a project's sources may read."""

import pytest

from streamhouse.errors import Location, SourceError
from streamhouse.ingest.cdc import open_cdc
from streamhouse.ingest.files import open_files
from streamhouse.ingest.folders import data_path
from streamhouse.ingest.listing import list_files
from streamhouse.model.flow import Source
from streamhouse.project.cache.source_columns import ColumnCache


@pytest.fixture
def root(tmp_path):
    found = tmp_path / "project"
    (found / "data").mkdir(parents=True)
    (found / "data" / "a.csv").write_text("n\n1\n")
    (found / ".streamhouse").mkdir()
    (found / ".streamhouse" / "keys.csv").write_text("n\n7\n")
    landing = tmp_path / "landing"
    landing.mkdir()
    (landing / "b.csv").write_text("n\n2\n")
    (landing / "b.json").write_text('{"n": 2}\n')
    (found / "data" / "far").symlink_to(landing)
    (found / "data" / "round").symlink_to(found / "data" / "round")
    return found


def outside(root):
    far = root.parent / "landing" / "b.csv"
    return [
        str(far), "../landing/b.csv", "../landing/*.csv", "data/../../landing/b.csv", "data/far/b.csv", "data/f*/*.csv",
        "data/**/*.csv", "/etc/*.csv", ".streamhouse/keys.csv", ".stream*/keys.csv", "../project/.streamhouse/*.csv",
        "../*/*.csv", "data/round",
    ]  # fmt: skip


def test_paths_that_leave_the_project_are_refused(root):
    for path in outside(root):
        with pytest.raises(SourceError) as refused:
            open_files({"path": path, "format": "csv"}, root).available()
        assert refused.value.code, path


def test_hidden_folders_of_a_project_are_no_data(root):
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("n\n1\n")
    (root / "data" / "link.csv").symlink_to(root / ".git" / "config")
    (root / ".env").write_text("n\n1\n")
    for path in (".git/config", "data/../.git/config", ".g*/config", "data/link.csv", "data/*.csv", ".env"):
        with pytest.raises(SourceError, match=r"is hidden|outside"):
            open_files({"path": path, "format": "csv"}, root, at=Location("flows/a.yaml", 2, 3))
    (root / "data" / "..2026_01").mkdir()  # as a mounted volume has its files
    (root / "data" / "..2026_01" / "v.csv").write_text("n\n1\n")
    (root / "data" / "v.csv").symlink_to("..2026_01/v.csv")
    assert list_files("data/v.csv", root) == ["data/v.csv"]


def test_urls_are_no_files(root):
    for path in (f"file://{root}/data/a.csv", f"file:{root.parent}/landing/b.csv", "http://x/a.csv"):
        with pytest.raises(SourceError):
            open_files({"path": path, "format": "csv"}, root)


def test_change_events_are_files_too(root):
    with pytest.raises(SourceError, match="outside of the project's data"):
        open_cdc({"path": "../landing/b.json", "primary_key": ["n"], "columns": {"n": "int"}}, root)


def test_a_folder_that_the_settings_name_is_read(root):
    (root / "streamhouse.yaml").write_text("data_folders: [../landing]\n")
    far = str(root.parent / "landing" / "b.csv")
    for path in (far, "../landing/b.csv", "data/far/*.csv"):
        assert len(list_files(path, root)) == 1, path
    with pytest.raises(SourceError):
        list_files("/etc/hosts", root)


def test_a_link_that_leads_back_is_refused(root):
    (root / "data" / "far").unlink()
    (root / "data" / "day").mkdir()
    (root / "data" / "day" / "c.csv").write_text("n\n3\n")
    assert list_files("data/**/*.csv", root) == ["data/a.csv", "data/day/c.csv"]
    (root / "data" / "twin").symlink_to(root / "data" / "day")  # a folder with two names is read twice, and no circle
    assert list_files("data/**/*.csv", root) == ["data/a.csv", "data/day/c.csv", "data/twin/c.csv"]
    for target in (root / "data", root / "data" / "day", root):
        (root / "data" / "day" / "back").symlink_to(target)
        with pytest.raises(SourceError, match=r"'data/(day|twin)/back' leads back|outside"):
            list_files("data/**/*.csv", root)
        (root / "data" / "day" / "back").unlink()


def test_links_that_lead_to_each_other_are_refused(root):
    (root / "data" / "far").unlink()
    for name, other in (("a", "b"), ("b", "a")):
        (root / "data" / name).mkdir()
        for number in range(3):
            (root / "data" / name / f"to_{other}{number}").symlink_to(root / "data" / other)
    with pytest.raises(SourceError, match="leads back to a folder that it is in"):
        list_files("data/**/*.csv", root)


def test_a_file_that_became_a_link_is_not_read(root):
    source = open_files({"path": "data/*.csv", "columns": {"n": "int"}}, root)
    assert source.available() == {"data/a.csv": 1}
    (root / "data" / "a.csv").unlink()
    (root / "data" / "a.csv").symlink_to(root.parent / "landing" / "b.csv")
    with pytest.raises(SourceError, match="outside of the project's data"):
        source.read({}, {"data/a.csv": 1})


def test_the_hint_names_what_to_write(root):
    with pytest.raises(SourceError) as refused:
        data_path(root, "../landing/b.csv")
    assert refused.value.hint == (
        f"put it into the project, or allow its folder in streamhouse.yaml: data_folders: [{root.parent / 'landing'}]"
    )


def test_remembered_columns_do_not_outlive_the_leave_to_read(root):
    source = Source(name="b", kind="files", options={"path": "../landing/b.csv"}, at=Location("f.yaml"))
    settings = root / "streamhouse.yaml"
    settings.write_text("data_folders: [../landing]\n")
    cache = root / ".streamhouse" / "cache"
    assert [column.name for column in ColumnCache(root, cache).of({"b": source})["b"]] == ["n"]
    settings.write_text("")
    with pytest.raises(SourceError):
        ColumnCache(root, cache).of({"b": source})
