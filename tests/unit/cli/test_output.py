import io
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from streamhouse.cli.output import CommandOutput, duration_text, text_of
from streamhouse.cli.progress import LINE_EVERY_S, ProgressView, facts_text
from streamhouse.cli.stages import StageView
from streamhouse.install.stage import Stage
from streamhouse.jobs.progress import RunProgress
from streamhouse.model.types import Layer


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_plain_table_is_aligned_and_cuts_nothing():
    stream = io.StringIO()
    long = "x" * 300
    CommandOutput(as_json=False, stream=stream).table(("name", "rows"), [("a", 1), (long, 1_234_567), (None, None)])
    lines = stream.getvalue().splitlines()
    assert lines[0].split() == ["name", "rows"]
    assert lines[2] == f"{long}  1,234,567"
    assert lines[1].endswith("          1")
    assert all(line == line.rstrip() for line in lines)


def test_an_empty_table_shows_its_headers():
    stream = io.StringIO()
    CommandOutput(as_json=False, stream=stream).table(("a", "b"), [])
    assert stream.getvalue() == "a  b\n"


def test_text_is_never_taken_for_markup_on_a_terminal():
    stream = Terminal()
    output = CommandOutput(as_json=False, stream=stream)
    output.table(("[bold]", "b"), [("[red]x[/red]", "array<int>[1]")])
    output.line("[green]ok[/]", style="green")
    for text in ("[bold]", "[red]x[/red]", "array<int>[1]", "[green]ok[/]"):
        assert text in stream.getvalue()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (True, "yes"),
        (12_345, "12,345"),
        (Decimal("1.50"), "1.50"),
        ("two\nlines", "two lines"),
        (datetime(2026, 1, 5, 12, 0, 1, 500_000, tzinfo=UTC), "2026-01-05 12:00:01.5"),
        (datetime(2026, 1, 5, tzinfo=UTC), "2026-01-05 00:00:00"),
    ],
)
def test_values_for_people(value, text):
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0, "0 ms"), (340, "340 ms"), (2_400, "2.4 s"), (180_000, "3 min"), (18_000_000, "5 h"), (259_200_000, "3 d")],
)
def test_durations_for_people(milliseconds, text):
    assert duration_text(milliseconds) == text


def test_json_holds_what_python_holds():
    stream = io.StringIO()
    CommandOutput(as_json=True, stream=stream).document(
        {
            "at": datetime(2026, 1, 5, tzinfo=UTC),
            "day": date(2026, 1, 5),
            "for": timedelta(seconds=1.5),
            "cents": Decimal("1.50"),
            "bytes": b"\x01",
            "layer": Layer.ODS,
            "path": Path("a/b"),
            "none": None,
        }
    )
    assert json.loads(stream.getvalue()) == {
        "at": "2026-01-05T00:00:00+00:00",
        "day": "2026-01-05",
        "for": 1.5,
        "cents": "1.50",
        "bytes": "01",
        "layer": "ods",
        "path": "a/b",
        "none": None,
    }
    with pytest.raises(TypeError):
        CommandOutput(as_json=True, stream=stream).document({"x": object()})


def progress(epoch, **parts):
    return RunProgress(epoch, epoch * 10, 100, 5.4, {Layer.ODS: 40, Layer.ADS: 1_200}, **parts)


def test_a_log_gets_a_line_for_each_stage_and_every_few_seconds(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("streamhouse.cli.progress.time.monotonic", lambda: clock[0])
    stream = io.StringIO()
    with ProgressView("orders", stream=stream) as view:
        view.show("orders", RunProgress(-1, 0, None, 0.0, stage="starting Fluss"))
        view.show("orders", RunProgress(-1, 0, None, 0.0, stage="starting Fluss"))
        view.show("orders", progress(1))
        view.show("orders", progress(2))
        clock[0] += LINE_EVERY_S
        view.show("orders", progress(3))
        view.show("orders", progress(4))
    assert stream.getvalue().splitlines() == [
        "orders: starting Fluss",
        "orders: running  10/100 rows  5 rows/s  epoch 1  ods 40 ms  ads 1.2 s",
        "orders: running  30/100 rows  5 rows/s  epoch 3  ods 40 ms  ads 1.2 s",
        "orders: running  40/100 rows  5 rows/s  epoch 4  ods 40 ms  ads 1.2 s",
    ]


def test_a_run_without_end_has_no_total():
    assert facts_text(RunProgress(0, 7, None, 1.0)) == "7 rows  1 rows/s  epoch 0"
    assert facts_text(RunProgress(0, 7, None, 0.04)) == "7 rows  0.04 rows/s  epoch 0"
    assert facts_text(RunProgress(0, 7, None, 0.001)) == "7 rows  under 0.01 rows/s  epoch 0"
    assert facts_text(RunProgress(0, 0, None, 0.0)) == "0 rows  0 rows/s  epoch 0"


def test_a_terminal_gets_a_bar_that_goes_away():
    stream = Terminal()
    with ProgressView("orders", stream=stream) as view:
        view.show("orders", progress(1))
        view.show("orders", RunProgress(2, 20, None, 5.0))
    assert "orders" in stream.getvalue()
    stream = Terminal()
    with StageView(stream) as view:
        view.show(Stage("fetching [a] jar", 0.5))
        view.show(Stage("starting"))
    assert "starting" in stream.getvalue()


def test_stages_in_a_log_are_told_once():
    stream = io.StringIO()
    with StageView(stream) as view:
        for stage in (Stage("fetching", 0.1), Stage("fetching", 0.5), Stage("starting")):
            view.show(stage)
    assert stream.getvalue() == "fetching\nstarting\n"
