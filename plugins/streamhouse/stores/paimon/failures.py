"""Paimon's exceptions as ours."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from streamhouse.errors import (
    DiskFullError,
    StoreError,
    StoreUnavailableError,
    StreamhouseError,
    TableMissingError,
    WriteRefusedError,
)

_LONG = f"(os error {errno.ENAMETOOLONG})"  # as the Rust engine says it
_DAMAGED = "where a file is damaged or gone, bring it back from a copy; upkeep may have removed it meanwhile: ask again"


@contextmanager
def translated(doing: str, table: str) -> Iterator[None]:
    """Turn what pypaimon and its Rust engine raise in the block into a `StoreError`.

    Args:
        doing: What failed, to stand before the table's name: "reading", "writing".
        table: `layer.name`.

    Raises:
        TableMissingError: Paimon has no such table.
        DiskFullError: no room is left.
        StoreUnavailableError: the file system failed; the call may be repeated.
        WriteRefusedError: the folder of a partition would have a longer name than the file system takes.
        StoreError: anything else Paimon refuses.
    """
    from pypaimon.catalog.catalog_exception import CatalogException, TableNotExistException

    try:
        with translate_panics():
            yield
    except TableNotExistException as error:
        raise TableMissingError(
            f"Paimon has no table {table}", hint="it is created when the flow that writes it starts"
        ) from error
    except FileNotFoundError as error:
        raise StoreError(f"{doing} Paimon table {table} failed, a file is gone: {error}", hint=_DAMAGED) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskFullError(f"no room left while {doing} Paimon table {table}") from error
        if error.errno == errno.ENAMETOOLONG:
            raise _too_long(table) from error
        raise StoreUnavailableError(f"{doing} Paimon table {table} failed: {error}") from error
    except StreamhouseError:
        raise
    # The Rust engine raises ValueError and RuntimeError for all it finds wrong, files included.
    except (CatalogException, ValueError, RuntimeError, NotImplementedError) as error:
        if _LONG in str(error):
            raise _too_long(table) from error
        raise StoreError(f"{doing} Paimon table {table} failed: {error}", hint=_DAMAGED) from error
    except Exception as error:  # whatever Python stumbles over in files that are damaged
        said = f"{type(error).__name__}: {error}"
        raise StoreError(f"{doing} Paimon table {table} failed: {said}", hint=_DAMAGED) from error


def _too_long(table: str) -> WriteRefusedError:
    return WriteRefusedError(
        f"a row of {table} has too long a text in a column that the table is partitioned by: its folder's name would "
        "have more than 255 bytes",
        hint="partition by a shorter column, such as left(x, 60) or md5(x)",
    )


@contextmanager
def translate_panics() -> Iterator[None]:
    """Turn a panic of the Rust engine, which damaged files bring about and no `except Exception` takes, into an error.

    Raises:
        ValueError: as for all else that the Rust engine finds wrong.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of pyo3, which has no module to import it from
            raise
        raise ValueError(str(error)) from error
