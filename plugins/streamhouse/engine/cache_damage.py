"""A cache of states whose file is not as it was written. It is removed, and made again from the stores."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from streamhouse.errors import EngineError

_WORDS = ("Corrupt", "Could not read enough bytes", "not a valid DuckDB")
"""What DuckDB says of such a file, in an error that it raises for a lock and a full disk, too."""


class DamagedCacheError(EngineError):
    """The file of a cache is damaged. The next attempt makes another one, so the epoch is tried again."""

    retryable = True


def is_damage(error: Exception) -> bool:
    """Whether an error of DuckDB, or of Arrow that reads from it, says that the file is damaged."""
    import duckdb

    if isinstance(error, duckdb.SerializationException | duckdb.InternalException | duckdb.FatalException):
        return True
    return any(word in str(error) for word in _WORDS)


@contextmanager
def naming_damage(file: Path) -> Iterator[None]:
    """Within the block an error of DuckDB that says so is one of a damaged cache.

    Args:
        file: Of the cache.

    Raises:
        DamagedCacheError: so it is.
    """
    import duckdb

    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        if not is_damage(error):
            raise
        raise DamagedCacheError(f"the cache {file.name} is damaged, and is made again from the tables") from error


def remove_cache(file: Path) -> None:
    """Remove the file of a cache, and the one that DuckDB writes beside it; nothing where there is none."""
    file.unlink(missing_ok=True)
    file.with_name(f"{file.name}.wal").unlink(missing_ok=True)
