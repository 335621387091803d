"""Groups that import a command only when it is looked at, so that help starts in milliseconds."""

from importlib import import_module
from typing import Any

import click

from streamhouse.errors import did_you_mean


class LazyGroup(click.Group):
    """A group whose commands are named by place: `commands_at={"run": "package.module:function"}`."""

    def __init__(self, *args: Any, commands_at: dict[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands_at = commands_at or {}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Names in the order a person meets them, not by the alphabet."""
        return [*self.commands_at, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command called `cmd_name`; None when there is none.

        Raises:
            TypeError: the place names something else than a command.
        """
        place = self.commands_at.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        module, function = place.split(":")
        command = getattr(import_module(module), function)
        if not isinstance(command, click.Command):
            raise TypeError(f"{place} is no command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that `args` names; a misspelt one is answered with the closest."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            hint = did_you_mean(args[0], known)
            ctx.fail(f"no such command '{args[0]}'{f'; {hint}' if hint else ''}")
        return super().resolve_command(ctx, args)
