"""`streamhouse action new`: one action from a wish in plain words."""

from pathlib import Path

import click

from streamhouse.cli.app import shared_options
from streamhouse.cli.ask import (
    EXIT_CODES,
    answer,
    answer_option,
    check_model,
    model_option,
    read_answers,
    request_option,
)


@click.command(
    short_help="Turn a wish in plain words into one action.",
    epilog=f"""\b
Examples:
  streamhouse action new 'revenue per store and day'
  streamhouse action new 'rides longer than an hour' --name long_rides --write
\b
{EXIT_CODES}""",
)
@click.argument("wish", required=False)
@click.option(
    "--write",
    metavar="[DIR]",
    is_flag=False,
    flag_value="",
    help="Write the proposed file into the project, or into a folder, after a final check.",
)
@click.option(
    "--trial/--no-trial",
    default=True,
    show_default=True,
    help="Before the file is written into the project, run its examples.",
)
@answer_option
@request_option
@click.option("--name", metavar="NAME", help="Of the action.")
@click.option("--layer", type=click.Choice(("dwd", "dws", "ads")), help="That its table belongs to.")
@click.option(
    "--examples/--no-examples",
    default=None,
    help="Compute examples on real rows, which starts Spark. [default: where tables have rows]",
)
@model_option
@shared_options
@click.pass_context
def new(
    context: click.Context,
    wish: str | None,
    write: str | None,
    trial: bool,
    answers: tuple[str, ...],
    request_file: Path | None,
    name: str | None,
    layer: str | None,
    examples: bool | None,
    model: str | None,
) -> None:
    """Show the action that WISH becomes, with its contract, parameters, expectations and examples.

    Where an action gives the same with other values of its parameters, that one is named instead. No flow changes.
    """
    from streamhouse.jobs.ask_options import Options
    from streamhouse.model.types import Layer

    check_model(model)
    options = Options(
        answers=read_answers(answers),
        name=name,
        layer=Layer(layer) if layer else None,
        examples=examples,
        alone=True,
        model=model,
    )
    answer(context, wish, options, request_file, write, trial=trial)
