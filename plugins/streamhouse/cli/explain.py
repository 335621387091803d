"""`streamhouse explain`: what an error code means and what to do about it."""

from dataclasses import asdict

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.output import CommandOutput
from streamhouse.errors.explanation import Explanation, explanations, nearest_code, normal_code


@click.command(
    short_help="Show what an error code means and what to do about it.",
    epilog="""\b
Examples:
  streamhouse explain SH404
  streamhouse explain 404
  streamhouse explain                 # a table of all codes
""",
)
@click.argument("code", required=False)
@shared_options
@click.pass_obj
def explain(app: App, code: str | None) -> None:
    """Show cause, example and remedy of the error CODE; without CODE, list all codes.

    CODE may be in lower case and without its SH. The same texts are in docs/errors.md.
    """
    known = explanations()
    if code is None:
        _list(app.output, list(known.values()))
        return
    wanted = normal_code(code)
    if wanted not in known:
        close = nearest_code(wanted, list(known))
        hint = f"did you mean {close}?" if close else "list all codes: streamhouse explain"
        raise click.UsageError(f"unknown error code '{code}'; {hint}")
    _show(app.output, known[wanted])


def _list(output: CommandOutput, known: list[Explanation]) -> None:
    if output.as_json:
        output.document({"codes": [asdict(one) for one in known]})
        return
    output.table(("code", "exit code", "meaning"), [(one.code, one.exit_code, one.summary) for one in known])


def _show(output: CommandOutput, one: Explanation) -> None:
    if output.as_json:
        output.document(asdict(one))
        return
    retry = "may succeed later by itself" if one.retryable else "fails again until the cause is removed"
    output.line(f"{one.code}  {one.summary}")
    output.line(f"exit code {one.exit_code}; the same call {retry}")
    for title, text in (("Cause", one.cause), ("Example", one.example), ("Remedy", one.remedy)):
        output.line()
        output.line(title, style="bold")
        for line in _wrapped(text):
            output.line(f"  {line}")


def _wrapped(text: str) -> list[str]:
    """An example keeps its lines; prose is wrapped."""
    from textwrap import wrap

    return text.split("\n") if "\n" in text else wrap(text, width=96, break_on_hyphens=False)
