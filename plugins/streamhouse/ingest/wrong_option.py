"""Where a person wrote the option that an error of a source is about."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamhouse.errors import SourceError
from streamhouse.model.flow import Source
from streamhouse.model.plan import PlannedSource


@contextmanager
def of_option(option: str) -> Iterator[None]:
    """Let an error of the block be one of an option, unless it names another one.

    Raises:
        SourceError: as the block does.
    """
    try:
        yield
    except SourceError as error:
        error.option = error.option or option
        raise


@contextmanager
def at_the_option(source: Source | PlannedSource) -> Iterator[None]:
    """Let an error of the block stand where a person wrote the option that is wrong, where it names one.

    Raises:
        SourceError: as the block does.
    """
    try:
        yield
    except SourceError as error:
        if isinstance(source, Source) and error.option and error.at == source.at:
            error.at = source.place_of(error.option)
        raise
