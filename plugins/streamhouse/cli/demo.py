"""`streamhouse demo`: the whole path on real rows."""

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.output import CommandOutput, duration_text
from streamhouse.cli.progress import ProgressView

if TYPE_CHECKING:
    from streamhouse.jobs.demo import Shown
    from streamhouse.jobs.progress import Summary
    from streamhouse.jobs.run import OnProgress
    from streamhouse.tiering.move import MoveProgress


@click.command(
    short_help="Run both demo flows over a year of real transactions.",
    epilog="""\b
Example:
  streamhouse demo
""",
)
@shared_options
@click.pass_obj
def demo(app: App) -> None:
    """Replay a year of a real grocer through every layer and tier, then ask some questions.

    Starts the embedded services and Spark, runs the flows `retail` and `attribution` until their
    sources are drained, fills the warm and cold tiers, shows some results, and stops all it
    started. Run it again: it goes on from where it ended, also when it was cut off.
    """
    from streamhouse.jobs.demo import run_demo

    with _Stalls() as audience:
        shown = run_demo(app.project, audience)
    if app.as_json:
        app.output.document(
            {
                "flows": [asdict(summary) for summary in shown.summaries],
                "tiering": [asdict(move) for move in shown.moved],
                "results": {title: rows.to_pylist() for title, rows in shown.results.items()},
            }
        )
    else:
        _show(shown, app.output)


class _Stalls:
    """The audience on a terminal: one progress view after the other."""

    def __init__(self) -> None:
        self._view: ProgressView | None = None
        self._text = ""

    def __enter__(self) -> "_Stalls":
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def flow(self, name: str) -> "OnProgress":
        return partial(self._enter(name).show, name)

    def stage(self, text: str) -> None:
        self._leave()
        if text != self._text:
            self._text = text
            click.echo(f"{text} …", err=True)

    def tiering(self, moved: "MoveProgress") -> None:
        self._leave()
        click.echo(f"tiering {moved.table} {moved.source} → {moved.target}: {moved.rows:,} rows", err=True)

    def _enter(self, name: str) -> ProgressView:
        self._leave()
        self._view = ProgressView(name).__enter__()
        return self._view

    def _leave(self) -> None:
        if self._view is not None:
            self._view.__exit__(None, None, None)
            self._view = None


def _show(shown: "Shown", output: CommandOutput) -> None:
    for summary in shown.summaries:
        _show_summary(summary, output)
    for title, rows in shown.results.items():
        output.line(f"\n{title}")
        output.table(tuple(rows.column_names), [tuple(row.values()) for row in rows.to_pylist()])


def _show_summary(summary: "Summary", output: CommandOutput) -> None:
    if not summary.epochs:
        output.line(f"{summary.flow}: nothing new to read, every table is up to date")
        return
    freshness = ", ".join(f"{layer} {duration_text(ms)}" for layer, ms in summary.freshness_ms.items())
    rows, tables = sum(summary.rows.values()), len(summary.rows)
    output.line(
        f"{summary.flow}: {rows:,} rows into {tables} tables in {summary.epochs} epochs,"
        f" {duration_text(summary.seconds * 1000)}; freshness {freshness}"
    )
