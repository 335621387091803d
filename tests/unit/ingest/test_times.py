"""Days and times as ISO texts, in every file format and at any depth."""

import json
from datetime import UTC, date, datetime

import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.formats import read_file
from streamhouse.model.table import Column

NOON = datetime(2020, 1, 2, 12, tzinfo=UTC)
TEXTS = [
    ("date", "2020-01-02", date(2020, 1, 2)),
    ("date", "0001-01-01", date(1, 1, 1)),
    ("date", "1969-12-31", date(1969, 12, 31)),
    ("date", "9999-12-31", date(9999, 12, 31)),
    ("date", "2020-01-02T00:00:00.000Z", date(2020, 1, 2)),
    ("date", "2020-01-02 00:00", date(2020, 1, 2)),
    ("timestamp", "2020-01-02T12:00:00", NOON),
    ("timestamp", "2020-01-02 14:00:00 +02:00", NOON),
    ("timestamp", "2020-01-02T14:00:00+0200", NOON),
    ("timestamp", "2020-01-02T12:00:00.123456789Z", NOON.replace(microsecond=123456)),
    ("timestamp", "1969-12-31 23:59:59.999999", datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
    ("timestamp", "9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
    ("timestamp_ntz", "9999-12-31 23:59:59.999999", datetime(9999, 12, 31, 23, 59, 59, 999999)),
]
NO_TEXTS = [  # Spark's readers take neither
    ("timestamp", "2020-01-02T12:00Z"),
    ("timestamp_ntz", "2020-01-02T12:00:00Z"),
]


def read(tmp_path, kind, type_, *lines):
    path = tmp_path / f"rows.{kind}"
    path.write_text("\n".join(lines) + "\n")
    return read_file(path, kind, (Column(name="v", type=type_),), path.name).column("v").to_pylist()


@pytest.mark.parametrize(("type_", "text", "value"), TEXTS)
def test_an_iso_text_is_read_from_json_and_csv(tmp_path, type_, text, value):
    told = json.dumps({"v": text})
    assert read(tmp_path, "json", type_, told, '{"v": null}', "{}") == [value, None, None]
    assert read(tmp_path, "csv", type_, "v", text) == [value]
    assert read(tmp_path, "json", f"array<{type_}>", json.dumps({"v": [text, None]}), "{}", '{"v": []}') == [
        [value, None],
        None,
        [],
    ]
    nested = json.dumps({"v": {"at": text, "more": [{"at": text}]}})
    assert read(tmp_path, "json", f"struct<at:{type_},more:array<struct<at:{type_}>>>", nested, "{}") == [
        {"at": value, "more": [{"at": value}]},
        None,
    ]


@pytest.mark.parametrize(("type_", "text"), NO_TEXTS)
def test_a_zone_that_spark_does_not_take_is_refused(tmp_path, type_, text):
    with pytest.raises(SourceError, match=rf"rows\.json:1:1: SH212 column 'v' is no {type_}: '{text}'"):
        read(tmp_path, "json", type_, json.dumps({"v": text}))
    with pytest.raises(SourceError, match=rf"rows\.csv:2:1: SH212 column 'v' is no {type_}: '{text}'"):
        read(tmp_path, "csv", type_, "v", text)


def test_a_number_in_json_is_seconds_for_an_instant_and_nothing_else(tmp_path):
    assert read(tmp_path, "json", "timestamp", '{"v": -1}', '{"v": 1577966400}')[1] == NOON
    for kind in ("date", "timestamp_ntz"):
        with pytest.raises(SourceError, match=r"rows\.json:2:1: SH212 column 'v' is no"):
            read(tmp_path, "json", kind, "{}", '{"v": 1}')


@pytest.mark.parametrize(
    ("type_", "text"),
    [("date", "2020-01-02T12:00:00"), ("date", "2020-13-01"), ("timestamp_ntz", "2020-01-02T12:00:00+02:00")],
)
def test_a_text_that_would_lose_something_is_refused_with_its_line(tmp_path, type_, text):
    with pytest.raises(SourceError, match=r"rows\.json:2:1"):
        read(tmp_path, "json", type_, '{"v": "2020-01-02"}', json.dumps({"v": text}))
    with pytest.raises(SourceError, match=r"rows\.csv:3:1"):
        read(tmp_path, "csv", type_, "v", "2020-01-02", text)
