"""`streamhouse ask`: a wish in plain words becomes files to review."""

import json
import stat
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamhouse.cli.app import App, shared_options
from streamhouse.cli.ask_sent import show_sent_for, show_stored
from streamhouse.cli.ask_target import check_build, with_environment, write_target
from streamhouse.cli.environment_name import ENVIRONMENT_NAME
from streamhouse.cli.output import CommandOutput, plain
from streamhouse.cli.standard_input import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta

    from streamhouse.jobs.ask_options import Options
    from streamhouse.planner.proposal import Check, Proposal
    from streamhouse.planner.request import Request

PREVIEW_ROWS = 10
_MOST_BYTES = 1_000_000  # of a Request
EXIT_CODES = """\b
Exit codes: 0 proposed, 3 there is a question, 4 refused; others as of every command.
"""

answer_option = click.option(
    "--answer", "answers", metavar="'PHRASE=CHOICE'", multiple=True, help="Answer a question; may be repeated."
)
request_option = click.option(
    "--request",
    "request_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Take a Request as JSON instead of a wish.",
)
model_option = click.option(
    "--model",
    metavar="NAME",
    help="A language model reads the wish: provider:name, or 'on' for that of the settings; 'off': none does. "
    "[default: that of the settings, where the wish cannot be read without]",
)


@click.command(
    short_help="Turn a wish in plain words into files to review.",
    epilog=f"""\b
Examples:
  streamhouse ask 'revenue per store and hour, only baskets over 50 dollars'
  streamhouse ask 'top 5 stores by revenue of each month' --preview 20
  streamhouse ask 'sales per day' --answer 'sales=revenue' --write
  streamhouse ask 'revenue per store' --no-examples --json | jq -r .sql
  streamhouse ask 'basket affinity of products' --model anthropic:claude-sonnet-4-5 --show-sent
\b
{EXIT_CODES}""",
)
@click.argument("wish", required=False)
@click.option(
    "--write",
    metavar="[DIR]",
    is_flag=False,
    flag_value="",
    help="Write the proposed files into the project, or into a folder, after a final check.",
)
@click.option(
    "--env",
    "environment",
    metavar="NAME",
    type=ENVIRONMENT_NAME,
    help="Preview and examples read the tables of an environment. With --write, the new tables are built in it.",
)
@click.option(
    "--trial/--no-trial",
    default=True,
    show_default=True,
    help="Before files are written into the project, run the new step on a sample: in epochs and as one batch.",
)
@click.option(
    "--preview",
    metavar="N",
    type=click.IntRange(min=0),
    help=f"Show so many rows of the answer. [default: {PREVIEW_ROWS}; with --no-examples none]",
)
@answer_option
@request_option
@click.option("--flow", metavar="NAME", help="The flow that gets the step; one that is not there is made.")
@click.option("--name", metavar="NAME", help="The result's table, without the layer.")
@click.option("--layer", type=click.Choice(("dwd", "dws", "ads")), help="Where the result belongs.")
@click.option("--freshness", metavar="TIME", help="How far the result may lag behind the source: 5s, 1m.")
@click.option(
    "--examples/--no-examples",
    default=None,
    help="Compute examples on real rows, which starts Spark. [default: where tables have rows]",
)
@model_option
@click.option(
    "--show-sent",
    is_flag=True,
    help="Show what was sent to a model for the wish. WISH may be the id of a proposal; without it: the last one.",
)
@shared_options
@click.pass_context
def ask(
    context: click.Context,
    wish: str | None,
    write: str | None,
    environment: str | None,
    trial: bool,
    preview: int | None,
    answers: tuple[str, ...],
    request_file: Path | None,
    flow: str | None,
    name: str | None,
    layer: str | None,
    freshness: str | None,
    examples: bool | None,
    model: str | None,
    show_sent: bool,
) -> None:
    """Show what WISH becomes: how it was read, the files, their plan, what is reused, the cost, the first rows.

    Nothing changes without --write, and what serves changes only with 'streamhouse apply'. With '-' the wish is read
    from standard input.
    """
    from streamhouse.jobs.ask_options import Options
    from streamhouse.model.types import Layer

    check_model(model)
    if show_sent and show_stored(context.obj, wish):
        return
    options = Options(
        answers=read_answers(answers),
        flow=flow,
        name=name,
        layer=Layer(layer) if layer else None,
        freshness=_duration(freshness),
        examples=examples,
        preview=preview if preview is not None else 0 if examples is False else PREVIEW_ROWS,
        model=model,
    )
    options = with_environment(context.obj, options, environment, write)
    answer(context, wish, options, request_file, write, trial=trial, show_sent=show_sent)


def answer(
    context: click.Context,
    wish: str | None,
    options: "Options",
    request_file: Path | None,
    write: str | None,
    *,
    trial: bool = True,
    show_sent: bool = False,
) -> None:
    """Show a proposal, write it where that was asked for, and end with its exit code.

    Args:
        context: Of the command.
        wish: In words; `-`: they stand on standard input.
        options: What a person says beside it.
        request_file: A Request instead of the wish.
        write: A folder for the files; empty: the project; None: they are only shown.
        trial: Whether the step is tried before files are written into the project.
        show_sent: Whether to show what was sent to a model, too.

    Raises:
        UsageError: there is neither a wish nor a Request, the options contradict each other, or standard input is
            no text.
        WriteTargetError: files cannot be written there.
    """
    from streamhouse.project.cache.parallel import rarely_collected

    with rarely_collected():  # also while modules are loaded
        from streamhouse.jobs import ask as asking
    app: App = context.obj
    request = _request(request_file) if request_file is not None else None
    if wish is None and request is None:
        raise click.UsageError("say what you wish, or give --request FILE")
    target = write_target(app, write, options.build_in)
    text = read_text().strip() if wish == "-" else wish or (request.wish if request is not None else "")
    with rarely_collected():
        proposal = asking.ask(app.project, text, options, request=request, say=say_stage)
    written: list[Path] = []
    if write is not None and proposal.files:
        proposal, written = _written(app, proposal, target, options.build_in, trial=trial)
    if app.as_json:
        app.output.models({**proposal.model_dump(mode="json"), "written": [str(file) for file in written]})
    else:
        show(proposal, app.output, written=written, root=app.project.root)
        if show_sent:
            show_sent_for(app, proposal.id)
    context.exit(proposal.status.exit_code)


def _written(
    app: App, proposal: "Proposal", target: Path | None, environment: str | None, *, trial: bool
) -> "tuple[Proposal, list[Path]]":
    """Write the files of a proposal, and build its tables in an environment; the proposal with what was tried."""
    from streamhouse.jobs import ask as asking
    from streamhouse.planner.proposals import Proposals

    check_build(app, proposal, environment)
    written = asking.write(app.project, proposal, target, trial=trial, say=say_stage)
    proposal = Proposals(app.project).get(proposal.id).proposal
    if environment is not None and proposal.flow:
        built = build_in(app, proposal.flow, environment)
        commands = after_build(proposal, environment) if built else before_build(proposal)
        proposal = proposal.model_copy(update={"commands": commands})
    return proposal, written


def before_build(proposal: "Proposal") -> tuple[str, ...]:
    """What to type next where no environment was built: the flow must run before something can be built beside it."""
    commands = (f"streamhouse run {proposal.flow} --once" if _applies(one) else one for one in proposal.commands)
    return tuple(dict.fromkeys(commands))


def _applies(command: str) -> bool:
    return command.startswith("streamhouse apply ") and " --env " in command


def after_build(proposal: "Proposal", environment: str) -> tuple[str, ...]:
    """What to type next where an environment has the tables of a proposal: it is not applied again, but promoted."""
    kept = [one for one in proposal.commands if not one.startswith(("streamhouse apply ", "streamhouse plan "))]
    query = f"streamhouse query 'SELECT * FROM {proposal.table}' --env {environment}"
    return (*kept, query, f"streamhouse env promote {proposal.flow} {environment}")


def build_in(app: App, flow: str, environment: str) -> bool:
    """Build what the files say now in an environment, beside what serves; False: there is nothing to build."""
    from streamhouse.change.environment import build
    from streamhouse.cli.person import whoami
    from streamhouse.cli.plan import compared

    for one in compared(app, flow):
        if one.applied is None:
            why = f"{flow} was never run, so nothing serves beside which an environment could be built"
            say_stage(f"{why}; run it: streamhouse run {flow} --once")
        elif one.is_change or one.differs:
            build(app.project, one, environment, whoami(), say=say_stage)
            say_stage(f"{flow}: built in {environment}; let it serve: streamhouse env promote {flow} {environment}")
            return True
    return False


def show(proposal: "Proposal", output: CommandOutput, *, root: Path, written: list[Path] | None = None) -> None:
    """Print a proposal for a person to review."""
    if proposal.sentence:
        output.line(proposal.sentence, style="bold")
    if proposal.readings:
        output.line()
        output.table(("phrase", "became"), [(one.phrase, one.became) for one in proposal.readings])
    show_list(output, "assumed:", proposal.assumptions)
    if proposal.usage is not None:
        output.line()
        output.line(f"asked {proposal.usage}", style="dim")
    _show_questions(proposal, output)
    if proposal.refusal:
        output.line()
        output.line(f"refused: {proposal.refusal}", style="red")
    elif not proposal.questions:
        _show_outcome(proposal, output, root=root, written=written or [])


def _show_questions(proposal: "Proposal", output: CommandOutput) -> None:
    for number, question in enumerate(proposal.questions, 1):
        output.line()
        output.line(f"question {number}: {question.text}", style="yellow")
        for choice in question.choices:
            output.line(f"  --answer '{question.phrase}={choice}'")


def _show_outcome(proposal: "Proposal", output: CommandOutput, *, root: Path, written: list[Path]) -> None:
    for reuse in proposal.reuses:
        output.line()
        output.line(f"{reuse.kind} {reuse.name} is taken: {reuse.why}", style="green")
    if proposal.files:
        output.line()
        _show_files(proposal, output)
    elif proposal.sql:
        output.line()
        output.line(proposal.sql)
    _show_plan(proposal, output)
    _show_preview(proposal, output)
    for file in written:
        shown = file.relative_to(root) if file.is_relative_to(root) else file
        output.line(f"written: {shown}", style="green")
    show_list(
        output,
        f"proposal {proposal.id}; next:",
        proposal.commands if written or not proposal.files else _writes(proposal),
    )


def _writes(proposal: "Proposal") -> tuple[str, ...]:
    one = f"streamhouse proposals {proposal.id}"
    correct = (f"{one} --set PATH=JSON    (another name, filter, …: docs/asking.md)",) if proposal.request else ()
    beside = (f"{one} --write --env NAME    (also builds the new tables beside production)",) if proposal.flow else ()
    return (f"{one} --write", *beside, f"{one} --write DIR", *correct)


def _show_files(proposal: "Proposal", output: CommandOutput) -> None:
    for edit in proposal.files:
        before = [] if edit.before is None else edit.before.splitlines(keepends=True)
        name = "/dev/null" if edit.before is None else f"a/{edit.path}"
        for line in unified_diff(before, edit.after.splitlines(keepends=True), name, f"b/{edit.path}"):
            style = "green" if line.startswith("+") else "red" if line.startswith("-") else ""
            output.line(line.rstrip("\n"), style=style)


def _show_plan(proposal: "Proposal", output: CommandOutput) -> None:
    for step in proposal.steps:
        output.line()
        output.line(f"{step.table or step.action}: strategy {step.strategy}: {step.reason}")
    show_list(output, "", proposal.outcomes)
    if proposal.steps:
        cost = proposal.cost
        counted = cost.first_rows is not None and cost.first_bytes is not None
        rows = f"{cost.first_rows:,} rows, about {cost.first_bytes:,} bytes" if counted else "unknown"
        epoch = "see below" if cost.rows_per_epoch is None else f"{cost.rows_per_epoch:,} rows"
        output.line()
        tiers = "; ".join(f"{name}: {', '.join(places)}" for name, places in cost.tiers.items())
        output.facts({"the first run reads": rows, "each epoch reads": epoch, "state": cost.state, "tiers": tiers})
        show_list(output, "", cost.notes)
    show_checks(proposal.checks, output)


def show_checks(checks: "Iterable[Check]", output: CommandOutput) -> None:
    """Print what was tried with files, and what came out."""
    show_list(output, "checks:", [f"{one.name}: {one.verdict}: {one.text}" for one in checks])


def _show_preview(proposal: "Proposal", output: CommandOutput) -> None:
    output.line()
    if proposal.preview.columns:
        output.table(proposal.preview.columns, proposal.preview.rows)
    elif proposal.preview.why_not:
        output.line(f"no preview: {proposal.preview.why_not}", style="dim")


def show_list(output: CommandOutput, title: str, lines: "tuple[str, ...] | list[str]") -> None:
    """Print lines below a title; nothing where there are none."""
    if lines:
        output.line()
        if title:
            output.line(title)
        for line in lines:
            output.line(f"  {line}")


def read_answers(texts: tuple[str, ...]) -> dict[str, str]:
    """Phrase → choice, of what was typed behind --answer.

    Raises:
        UsageError: an answer is not PHRASE=CHOICE.
    """
    found = {}
    for one in texts:
        phrase, equals, choice = one.partition("=")
        if not equals:
            raise click.UsageError(f"--answer {one}: write 'PHRASE=CHOICE'")
        found[phrase.strip()] = choice.strip()
    return found


def _duration(text: str | None) -> "timedelta | None":
    from streamhouse.model.types import duration_of

    if text is None:
        return None
    try:
        return duration_of(text)
    except ValueError as error:
        raise click.UsageError(f"--freshness: {error}") from error


def _request(file: Path) -> "Request":
    from streamhouse.jobs.ask import parsed_request

    try:
        mode = file.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):  # a pipe is what a shell makes of <(…)
            raise click.UsageError(f"--request {file}: this is no file")
        with file.open("rb") as opened:
            text = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise click.UsageError(f"--request {file}: it cannot be read: {error.strerror}") from error
    if len(text) > _MOST_BYTES:
        raise click.UsageError(f"--request {file}: it has more than {_MOST_BYTES:,} bytes")
    try:
        return parsed_request(json.loads(text.decode("utf-8")))
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"--request {file}: this is no JSON: {error}") from error


def check_model(model: str | None) -> None:
    """Refuse what names no model.

    Raises:
        UsageError: the options do not go together.
    """
    if model is not None and model not in ("on", "off") and ":" not in model:
        raise click.UsageError(f"--model {model}: write provider:name, such as openai:gpt-5, or on, or off")


def say_stage(stage: str) -> None:
    """Say on standard error what is being waited for."""
    click.echo(plain(stage), err=True)
