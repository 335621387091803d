"""Options that name an environment which the command may create."""

from typing import Any

import click


class _EnvironmentName(click.ParamType[str]):
    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from streamhouse.model.environment_name import environment_name

        try:
            return environment_name(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


ENVIRONMENT_NAME = _EnvironmentName()
"""Refuses what is no name, before the command does anything."""
