"""Looking definitions up, also beside broken files."""

from pathlib import Path

import pytest

from streamhouse.errors import (
    DefinitionErrors,
    DuplicateNameError,
    FileFormatError,
    Location,
    SqlSyntaxError,
    StreamhouseError,
    UnknownActionError,
    UnknownFlowError,
)
from streamhouse.model.flow import Flow
from streamhouse.registry import Registry
from streamhouse.registry.files import DefinitionFile, read_files
from streamhouse.registry.read_action import ReadAction
from streamhouse.registry.registry import understood
from tests.work import files_opened_by

ACTION = """\
/* ---
action: {name}
version: {version}
step: clean
description: Keeps {name}.
inputs:
  orders: {{order_id: bigint, amount: double, sold_at: timestamp}}
params:
  least: {{type: double, default: 0}}
output: {{primary_key: [order_id], event_time: sold_at}}
expect:
  positive: {{check: "amount >= {number}"}}
--- */
WITH newest AS (
  SELECT *, row_number() OVER (PARTITION BY order_id ORDER BY sold_at DESC) AS nth FROM orders
)
SELECT order_id, CASE WHEN amount > {number} THEN amount ELSE 0 END AS amount, sold_at
FROM newest
WHERE nth = 1 AND amount >= :least
"""
FLOW = """\
flow: {name}
owner: sales
steps:
  - {{use: {use}, reads: {{orders: ods.orders}}, writes: dwd.{name}}}
"""


def write(root: Path, file: str, text: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def action(root: Path, file: str, name: str, version: str = "1.0.0", number: int = 1) -> None:
    write(root, f"actions/{file}.sql", ACTION.format(name=name, version=version, number=number))


def flow(root: Path, name: str, use: str, file: str | None = None) -> None:
    write(root, f"flows/{file or name}.yaml", FLOW.format(name=name, use=use))


def test_folders_may_be_absent(tmp_path: Path) -> None:
    registry = Registry.load(tmp_path)
    assert (registry.actions, registry.flows, registry.errors) == ({}, {}, ())
    registry.check()


def test_places_are_relative_to_the_project(tmp_path: Path) -> None:
    action(tmp_path, "clean/deep/orders", "clean_orders")
    flow(tmp_path, "orders", "clean_orders")
    registry = Registry.load(tmp_path)
    assert registry.action("clean_orders").at == Location("actions/clean/deep/orders.sql", 2, 9)
    assert registry.flow("orders").at.file == "flows/orders.yaml"


@pytest.mark.parametrize(
    ("use", "version"),
    [("a", "2.0.0"), ("a@1", "1.10.0"), ("a@1.9", "1.9.3"), ("a@1.9.1", "1.9.1"), ("a@2", "2.0.0")],
)
def test_versions(tmp_path: Path, use: str, version: str) -> None:
    for number in ("1.9.1", "1.9.3", "1.10.0", "2.0.0"):
        action(tmp_path, f"a_{number}", "a", number)
    registry = Registry.load(tmp_path)
    assert registry.action(use).version == version
    assert registry.actions["a"].version == "2.0.0"
    assert [a.version for a in registry.versions("a")] == ["1.9.1", "1.9.3", "1.10.0", "2.0.0"]


def test_unknown_names_come_with_a_hint(tmp_path: Path) -> None:
    action(tmp_path, "a", "clean_orders")
    flow(tmp_path, "orders", "clean_orders")
    registry = Registry.load(tmp_path)
    here = Location("f", 3, 4)
    with pytest.raises(UnknownActionError) as unknown:
        registry.action("clean_oders", at=here)
    assert str(unknown.value) == "f:3:4: SH201 unknown action 'clean_oders'\n  hint: did you mean 'clean_orders'?"
    with pytest.raises(UnknownActionError, match="clean_orders@3") as unknown:
        registry.action("clean_orders@3")
    assert unknown.value.hint == "did you mean 'clean_orders@1.0.0'?"
    with pytest.raises(UnknownFlowError) as missing:
        registry.flow("order")
    assert missing.value.hint == "did you mean 'orders'?"


def test_a_broken_file_hides_no_other_and_raises_its_own_error(tmp_path: Path) -> None:
    action(tmp_path, "good", "good")
    flow(tmp_path, "sound", "good")
    write(tmp_path, "actions/bad.sql", ACTION.format(name="broken", version="1.0.0", number=1) + "AND AND")
    write(tmp_path, "flows/bad.yaml", "flow: torn\nsteps: []")
    write(tmp_path, "flows/worse.yaml", "flow: [")
    registry = Registry.load(tmp_path)
    assert list(registry.actions) == ["good"]
    assert list(registry.flows) == ["sound"]
    assert registry.broken_flows == ("torn", "worse")
    with pytest.raises(SqlSyntaxError):
        registry.action("broken")
    for name in ("torn", "worse"):
        with pytest.raises(FileFormatError):
            registry.flow(name)
    assert [e.at.file for e in registry.errors if e.at] == ["actions/bad.sql", "flows/bad.yaml", "flows/worse.yaml"]
    with pytest.raises(DefinitionErrors):
        registry.check()


def test_a_broken_newest_version_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    action(tmp_path, "a1", "a", "1.0.0")
    write(tmp_path, "actions/a2.sql", ACTION.format(name="a", version="2.0.0", number=1) + "AND AND")
    registry = Registry.load(tmp_path)
    with pytest.raises(SqlSyntaxError):
        registry.action("a")
    assert registry.action("a@1").version == "1.0.0"


def test_two_files_of_one_name_are_refused_by_that_name(tmp_path: Path) -> None:
    action(tmp_path, "a", "twin", "1.0.0")
    action(tmp_path, "b", "twin", "1.0.0")
    flow(tmp_path, "same", "twin", "x")
    flow(tmp_path, "same", "twin", "y")
    registry = Registry.load(tmp_path)
    assert [type(e) for e in registry.errors] == [DuplicateNameError, DuplicateNameError]
    assert str(registry.errors[0]).startswith(
        "actions/b.sql:2:9: SH209 action 'twin' 1.0.0 is defined a second time; first at actions/a.sql:2:9\n  hint: "
    )
    for ask in (lambda: registry.action("twin"), lambda: registry.flow("same")):
        with pytest.raises(DuplicateNameError):
            ask()


@pytest.mark.parametrize("content", [b"\xff\xfe", b"flow: a\nowner: \xe9\n"])
def test_what_is_no_utf8_is_named_with_its_place(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows/a.yaml").write_bytes(content)
    (error,) = Registry.load(tmp_path).errors
    assert isinstance(error, FileFormatError)
    assert error.at == Location("flows/a.yaml", 1 + content.count(b"\n") // 2, 8 if b"owner" in content else 1)


def test_a_file_that_cannot_be_read_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "actions/folder.sql").mkdir(parents=True)
    (error,) = Registry.load(tmp_path).errors
    assert "cannot be read" in error.message


def test_windows_line_ends_and_a_byte_order_mark_change_no_place(tmp_path: Path) -> None:
    action(tmp_path, "a", "a")
    text = (tmp_path / "actions/a.sql").read_text().replace("\n", "\r\n")
    (tmp_path / "actions/b.sql").write_bytes(b"\xef\xbb\xbf" + text.replace("action: a", "action: b").encode())
    registry = Registry.load(tmp_path)
    assert registry.errors == ()
    one, other = registry.action("a"), registry.action("b")
    assert (one.sql, one.sql_at.line) == (other.sql, other.sql_at.line)


def test_used_by_and_writers(tmp_path: Path) -> None:
    action(tmp_path, "a", "a")
    flow(tmp_path, "one", "a")
    flow(tmp_path, "two", "a@1")
    flow(tmp_path, "three", "b")
    registry = Registry.load(tmp_path)
    assert [(use.flow, use.step.writes) for use in registry.used_by("a")] == [("one", "dwd.one"), ("two", "dwd.two")]
    assert {table: [u.flow for u in uses] for table, uses in registry.writers().items()}["dwd.three"] == ["three"]


def test_fingerprint_follows_meaning_not_layout(tmp_path: Path) -> None:
    text = ACTION.format(name="a", version="1.0.0", number=1)

    def fingerprint(changed: str) -> str:
        write(tmp_path, "actions/a.sql", changed)
        registry = Registry.load(tmp_path)
        return registry.fingerprint(registry.action("a"))

    first = fingerprint(text)
    assert len(first) == 16
    assert fingerprint(text.replace("WITH", "-- a comment\nwith").replace("\n  SELECT", " SELECT")) == first
    assert fingerprint("-- licence\n" + text.replace("bigint", "LONG")) == first
    assert fingerprint(text.replace("amount > 1", "amount > 2")) != first
    assert fingerprint(text.replace("default: 0", "default: 1")) != first


def test_search_needs_every_word_and_puts_names_first(tmp_path: Path) -> None:
    action(tmp_path, "a", "clean_orders")
    action(tmp_path, "b", "orders_by_hour")
    flow(tmp_path, "sales", "orders_by_hour")
    registry = Registry.load(tmp_path)
    assert [(h.kind, h.name) for h in registry.search("orders")] == [
        ("action", "clean_orders"),
        ("action", "orders_by_hour"),
        ("flow", "sales"),
    ]
    assert [h.name for h in registry.search("ORDERS hour")] == ["orders_by_hour", "sales"]
    assert [h.name for h in registry.search("clean_orders")] == ["clean_orders"]
    assert registry.search("orders nowhere") == ()
    assert len(registry.search("")) == 3


def test_each_of_many_files_is_read_once(tmp_path: Path) -> None:
    for number in range(200):
        action(tmp_path, f"a{number}", f"a{number}", number=number)
    loaded: list[Registry] = []
    opened = files_opened_by(lambda: loaded.append(Registry.load(tmp_path)), tmp_path)
    assert len(loaded[0].actions) == 200
    assert set(opened) >= {str(file) for file in tmp_path.rglob("*.sql")}
    assert set(opened.values()) == {1}


def test_errors_survive_a_process_boundary(tmp_path: Path) -> None:
    import pickle

    write(tmp_path, "flows/bad.yaml", "flow: A\nstep: []\n")
    with pytest.raises(StreamhouseError) as refused:
        Registry.load(tmp_path).check()
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


class TestEdited:
    def test_only_files_that_differ_are_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("one", "two"):
            action(tmp_path, name, name)
            flow(tmp_path, name, name)
        before = Registry.of_files(read_files(tmp_path))
        action(tmp_path, "two", "two", number=2)
        action(tmp_path, "three", "three")
        (tmp_path / "flows/one.yaml").unlink()
        read: list[str] = []

        def noted(file: DefinitionFile) -> ReadAction | Flow:
            read.append(file.name)
            return understood(file)

        monkeypatch.setattr("streamhouse.registry.registry.understood", noted)
        files = read_files(tmp_path)
        after = before.edited(files)
        assert read == ["actions/three.sql", "actions/two.sql"]
        assert after.action("one") is before.action("one")
        whole = Registry.of_files(files)
        assert (after.actions, after.flows, after.files) == (whole.actions, whole.flows, whole.files)

    def test_a_definition_that_was_the_second_of_its_name(self, tmp_path: Path) -> None:
        action(tmp_path, "a", "same")
        action(tmp_path, "b", "same", number=2)
        before = Registry.of_files(read_files(tmp_path))
        assert before.errors
        (tmp_path / "actions/a.sql").unlink()
        after = before.edited(read_files(tmp_path))
        assert not after.errors
        assert after.action("same").at.file == "actions/b.sql"
