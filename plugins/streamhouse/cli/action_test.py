"""`streamhouse action test`: run the examples in the headers."""

import time
from typing import TYPE_CHECKING, Any

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.output import CommandOutput, duration_text

if TYPE_CHECKING:
    from streamhouse.jobs.examples import ExampleResult
    from streamhouse.model.action import Action

FAILED = 3


@click.command(
    epilog="""\b
Examples:
  streamhouse action test
  streamhouse action test clean_orders revenue_by_product
"""
)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@shared_options
@click.pass_context
def test(context: click.Context, names: tuple[str, ...]) -> None:
    """Run the examples of actions (of all, without NAME) on real Spark and compare the rows.

    An example in an action's header gives rows of each input and says which rows come out, in any
    order. A column that a given row lacks is NULL. Only the columns that 'expect' names are compared.
    Exits with 3 when an example fails.
    """
    app: App = context.obj
    actions = [app.registry.action(name) for name in names] or _sound_actions(app)
    results = _run(app, actions)
    failed = sum(not r.passed for found in results.values() for r in found)
    if app.as_json:
        app.output.document(
            {
                "passed": sum(r.passed for found in results.values() for r in found),
                "failed": failed,
                "examples": [_document(name, r) for name, found in results.items() for r in found],
            }
        )
    if failed:
        context.exit(FAILED)


def _sound_actions(app: App) -> "list[Action]":
    app.registry.check()
    return list(app.registry.actions.values())


def _run(app: App, actions: "list[Action]") -> "dict[str, list[ExampleResult]]":
    from streamhouse.jobs.examples import run_examples
    from streamhouse.runtime.session import spark_session

    results: dict[str, list[ExampleResult]] = {a.action: [] for a in actions}
    output = app.output
    if any(a.examples for a in actions):
        click.echo("starting Spark", err=True)
        with spark_session(app.project, name="streamhouse-examples") as spark:
            began = time.monotonic()
            for each in actions:
                results[each.action] = run_examples(spark, each)
                if not app.as_json:
                    _show(each, results[each.action], output)
            seconds = time.monotonic() - began
    else:
        seconds = 0.0
    if not app.as_json:
        _summarise(results, seconds, output)
    return results


def _show(tested: "Action", results: "list[ExampleResult]", output: CommandOutput) -> None:
    for result in results:
        title = f"{tested.action}: example {result.number}"
        if result.passed:
            output.line(f"ok    {title}", style="green")
            continue
        output.line(f"FAIL  {title}  ({tested.at.file})", style="red")
        if result.error:
            output.line(f"      {result.error}")
        else:
            rows = [("missing", *row) for row in result.missing] + [("not expected", *row) for row in result.unexpected]
            output.table(("", *result.columns), rows)


def _summarise(results: "dict[str, list[ExampleResult]]", seconds: float, output: CommandOutput) -> None:
    found = [r for each in results.values() for r in each]
    without = [name for name, each in results.items() if not each]
    failed = sum(not r.passed for r in found)
    outcome = f"{failed} failed, {len(found) - failed} passed" if failed else f"{len(found)} passed"
    output.line(f"{outcome} in {duration_text(seconds * 1000)}", style="red" if failed else "green")
    if without:
        output.line(f"no examples: {', '.join(without)}", style="dim")


def _document(name: str, result: "ExampleResult") -> dict[str, Any]:
    return {
        "action": name,
        "example": result.number,
        "passed": result.passed,
        "error": result.error,
        "missing": [dict(zip(result.columns, row, strict=True)) for row in result.missing],
        "unexpected": [dict(zip(result.columns, row, strict=True)) for row in result.unexpected],
    }
