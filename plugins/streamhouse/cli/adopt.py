"""`streamhouse adopt`: make a copied project one of its own."""

import click

from streamhouse.cli.app import App, shared_options


@click.command(
    short_help="Make a copy of a project a project of its own.",
    epilog="""\b
Example:
  cp -a shop shop-test && streamhouse adopt --project shop-test
""",
)
@click.option("--shared", is_flag=True, help="Share with the original what streamhouse.yaml names outside of both.")
@shared_options
@click.pass_obj
def adopt(app: App, shared: bool) -> None:
    """Make a copy of a project a project of its own, with the tables and positions it was copied with.

    What a project keeps names its files by absolute paths, and its services by ports and processes. In a copy these
    are those of the original, so every other command refuses it. This rewrites the paths and forgets the processes.
    The original is left alone, and may run. A project that was moved needs nothing: the next command repairs it.
    """
    from streamhouse.runtime.settle import adopt as settled

    project = app.project_as_it_is
    done = settled(project, lambda text: click.echo(text, err=True), shared=shared)
    if app.as_json:
        app.output.document({"project": project.root, "adopted": done})
    else:
        app.output.line(f"{project.root} is a project of its own" if done else "nothing to do: this is no copy")
