"""Collects the problems of one file, so that a person sees all of them at once."""

from collections.abc import Iterable

from streamhouse.errors import DefinitionErrors, StreamhouseError


class Problems:
    """A growing list of errors; nothing is raised until asked for."""

    def __init__(self) -> None:
        self.errors: list[StreamhouseError] = []

    def __bool__(self) -> bool:
        return bool(self.errors)

    def add(self, *errors: StreamhouseError) -> None:
        """Note errors; one that holds several counts as those."""
        self.errors.extend(flat(errors))

    def error(self) -> StreamhouseError:
        """The one error noted, or a `DefinitionErrors` of all."""
        return self.errors[0] if len(self.errors) == 1 else DefinitionErrors(self.errors)

    def raise_any(self) -> None:
        """Raise what was noted, if anything; see `error`.

        Raises:
            StreamhouseError: the one error that was noted.
            DefinitionErrors: several were.
        """
        if self.errors:
            raise self.error()


def flat(errors: Iterable[StreamhouseError]) -> list[StreamhouseError]:
    """The errors, with each `DefinitionErrors` replaced by what it holds."""
    found: list[StreamhouseError] = []
    for error in errors:
        found.extend(error.errors if isinstance(error, DefinitionErrors) else [error])
    return found
