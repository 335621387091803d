"""Which row of several makes that they cannot be read. Pure."""

from collections.abc import Callable


def first_wrong_row(count: int, read: Callable[[int, int], object], error: Exception) -> tuple[int, Exception]:
    """The first row that cannot be read, from 0, and why; found by halves, after about log2(count) reads.

    Args:
        count: How many rows there are.
        read: Reads the rows `[first, last)`; raises an error where one of them cannot be read.
        error: Of reading all of them; it is the answer where each can be read alone.

    Example:
        >>> first_wrong_row(4, lambda first, last: [1 / n for n in [3, 2, 0, 0][first:last]], ValueError())
        (2, ZeroDivisionError('division by zero'))
    """
    first, last = 0, count
    while last - first > 1:
        half = (first + last) // 2
        try:
            read(first, half)
        except Exception:  # noqa: BLE001  whatever it is, the row is there
            last = half
        else:
            first = half
    try:
        read(first, last)
    except Exception as found:  # noqa: BLE001  it is the answer
        return first, found
    return 0, error
