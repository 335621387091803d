"""Numbers with more digits than Arrow's decimals bear are refused, and end no process."""

from decimal import Decimal

import pyarrow as pa
import pytest

from streamhouse.stores.decimals import exact_decimal, texts_as_decimals
from streamhouse.stores.fitted import fitted
from tests.tables import each

MONEY, WHOLE, SMALL = pa.decimal128(6, 2), pa.decimal128(38, 0), pa.decimal128(38, 38)


@each(
    ("text", "to", "expected"),
    [
        ("1.50", MONEY, "1.50"),
        ("1.5e0", MONEY, "1.50"),
        ("15e-1", MONEY, "1.50"),
        (f"1.5{'0' * 60}", MONEY, "1.50"),
        (f"1500{'0' * 60}e-63", MONEY, "1.50"),
        (f".{'0' * 37}1", SMALL, f"0.{'0' * 37}1"),
        ("1e-38", SMALL, f"0.{'0' * 37}1"),
        ("1e37", WHOLE, f"1{'0' * 37}"),
        ("0e-1000000000", MONEY, "0.00"),
        ("0e1000000000", MONEY, "0.00"),
        (f"-0.{'0' * 60}", MONEY, "0.00"),
        ("1e-1000000000", MONEY, None),
        ("1e-99999999999999999999999", MONEY, None),
        ("1e1000000000", MONEY, None),
        ("1e38", WHOLE, None),
        ("1e-39", SMALL, None),
        (f"0.{'0' * 60}1", MONEY, None),
        (f"1.{'0' * 30}1e-9", MONEY, None),
        (" 1e-1000000000", MONEY, None),
        ("1_0e-10", MONEY, None),
        ("much", MONEY, None),
        ("NaN", MONEY, None),
    ],
)
def test_texts(text, to, expected):
    wanted = None if expected is None else Decimal(expected)
    for texts in (pa.array([text, None]), pa.chunked_array([["0", None], [text]])):
        if expected is None:
            with pytest.raises(pa.ArrowInvalid):
                texts_as_decimals(texts, to)
        else:
            assert wanted in texts_as_decimals(texts, to).to_pylist()
    assert fitted(pa.chunked_array([[text]]), to).to_pylist() == [wanted]


@each(
    ("number", "to"),
    [(Decimal("1e-1000000000"), MONEY), (Decimal("1e1000000000"), MONEY), (Decimal("1.234"), MONEY),
     (Decimal("NaN"), MONEY), (Decimal("-Infinity"), MONEY), (Decimal(f"0.{'0' * 60}1"), SMALL)],
)  # fmt: skip
def test_numbers_that_do_not_fit(number, to):
    with pytest.raises(ValueError, match=r"it is out of range|would be lost|too many digits"):
        exact_decimal(number, to)


@each(
    ("number", "expected"),
    [
        ("0e-1000000000", "0.00"),
        ("0e1000000000", "0.00"),
        ("1.500", "1.50"),
        ("1500e-3", "1.50"),
        ("-9999.99", "-9999.99"),
    ],
)
def test_numbers_that_fit(number, expected):
    found = exact_decimal(Decimal(number), MONEY)
    assert pa.array([found], MONEY).to_pylist() == [Decimal(expected)]
