"""Paimon's exceptions as ours."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from streamhouse.errors import DiskFullError, StoreError, StoreUnavailableError, TableMissingError


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
        StoreError: anything else Paimon refuses.
    """
    from pypaimon.catalog.catalog_exception import CatalogException, TableNotExistException

    try:
        yield
    except TableNotExistException as error:
        raise TableMissingError(
            f"Paimon has no table {table}", hint="it is created when the flow that writes it starts"
        ) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskFullError(f"no room left while {doing} Paimon table {table}") from error
        raise StoreUnavailableError(f"{doing} Paimon table {table} failed: {error}") from error
    # The Rust engine raises ValueError and RuntimeError for all it finds wrong, files included.
    except (CatalogException, ValueError, RuntimeError, NotImplementedError) as error:
        raise StoreError(f"{doing} Paimon table {table} failed: {error}") from error
