"""Reads a secret from where the settings of a connection say it is."""

import os
from errno import EINVAL
from pathlib import Path

from streamhouse.doors.variables import is_text
from streamhouse.errors import EnvironmentProblem
from streamhouse.model.connection import SecretPlace
from streamhouse.registry.regular_file import regular_text


def secret_at(place: SecretPlace, what: str, root: Path) -> str:
    """The secret at a place.

    Args:
        place: Says where it is.
        what: What messages call it, such as `the password of connection 'shop'`.
        root: The project's folder.

    Raises:
        EnvironmentProblem: there is none at that place.
    """
    if place.environment is not None:
        found = os.environ.get(place.environment)
        if found and is_text(found):
            return found
        if found:
            cause = f"the environment variable {place.environment} is no text in UTF-8"
            raise EnvironmentProblem(f"{what}: {cause}", hint=f"set {place.environment} again")
        cause, hint = f"the environment variable {place.environment} is not set", f"set {place.environment}"
    else:
        file = root / (place.file or "")
        try:
            if found := regular_text(file).rstrip("\r\n"):
                return found
            cause, hint = f"the file {place.file} is empty", "put the secret into it"
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno == EINVAL:
                raise EnvironmentProblem(
                    f"{what}: {place.file} is no regular file", hint="put the secret into a file"
                ) from error
            cause, hint = f"the file {place.file} cannot be read", f"{type(error).__name__}: make it readable"
    raise EnvironmentProblem(f"{what}: {cause}", hint=hint)
