import pyarrow as pa
import pytest

from benchmarks.nexmark_parts.compare import difference


def rows(*found: tuple[int | None, str]) -> pa.Table:
    ids, names = zip(*found, strict=True) if found else ((), ())
    return pa.table({"id": pa.array(ids, pa.int64()), "name": pa.array(names, pa.string())})


BATCH = rows((1, "a"), (2, "b"), (2, "b"), (None, "c"))


@pytest.mark.parametrize("whole", [True, False])
def test_the_order_of_rows_does_not_matter(whole):
    assert difference(BATCH, rows((None, "c"), (2, "b"), (1, "a"), (2, "b")), whole=whole) == ""


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (rows((1, "a"), (2, "b"), (None, "c")), "1 of 4 rows missing, 0 others: misses (2, 'b')"),
        (
            rows((1, "a"), (2, "b"), (2, "x"), (None, "c")),
            "1 of 4 rows missing, 1 others: misses (2, 'b'); has (2, 'x')",
        ),
    ],
)
def test_as_many_rows_do_not_make_them_equal(found, text):
    assert difference(BATCH, found, whole=True) == text


def test_a_watermark_may_hold_rows_back_but_not_all_and_not_make_others():
    assert difference(BATCH, rows((2, "b")), whole=False) == ""
    assert difference(BATCH, rows(), whole=False).startswith("4 of 4 rows missing, 0 others")
    assert "has (2, 'x')" in difference(BATCH, rows((2, "x"), (1, "a")), whole=False)
