"""The type that an import declares is one that the capture accepts, for each type of each database."""

import pytest

from streamhouse.ingest.tables import binlog_types, postgres_types
from streamhouse.sql.types import canonical_type
from streamhouse.stores.arrow import arrow_type
from tests.tables import each


@each("type_", postgres_types._TYPES)
def test_of_postgres(type_):
    items = [f"_{type_}"] if type_ in postgres_types._ITEMS else []
    for one in (type_, *items):
        for written in (one, "numeric(12,2)", "numeric(3,-2)", "numeric(2,4)", "numeric(80,3)"):
            natural, _ = postgres_types.natural(one, "N", written)
            assert postgres_types.fits(natural, postgres_types.declarable(one, "N"))
            assert arrow_type(canonical_type(natural))


@each("type_", binlog_types._TYPES)
@pytest.mark.parametrize("suffix", ["", " unsigned", "(65,30)", "(12,2) unsigned zerofill", "(1)"])
def test_of_binlogs(type_, suffix):
    natural, _ = binlog_types.natural(type_, type_ + suffix)
    allowed = binlog_types.declarable(type_, type_ + suffix)
    if not allowed:
        assert natural is None
        return
    assert binlog_types.fits(natural, allowed)
    assert arrow_type(canonical_type(natural))
