"""Moments of a table that had several versions: the version that served then answers, or the query is refused."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from streamhouse.errors import QueryRefusedError, RowsLostError
from streamhouse.model.table import Column, Table
from streamhouse.model.types import Tier
from streamhouse.query.epoch_positions import Epochs
from streamhouse.query.moments import Moment, MomentKind
from streamhouse.query.parse import parse_query
from streamhouse.query.past import CatalogWithPast, KnownPast, histories
from streamhouse.state.records import EpochRecord, RetiredVersion, VersionSince

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def ms(text):
    return (datetime.fromisoformat(text).replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)


MADE, SWAP, BACK = ms("2026-01-01 00:00"), ms("2026-01-10 00:00"), ms("2026-01-20 00:00")


def table(name, *columns, **tiers):
    return Table(
        name=name,
        columns=tuple(Column(name=column, type="bigint") for column in columns),
        primary_key=("id",),
        tiers=tiers or {"warm": "30d"},
    )


BEFORE, AFTER = table("dwd.sales", "id", "amount"), table("dwd.sales", "id", "cents")


def stored(one, version):
    return one.model_copy(update={"name": f"{one.name}__v{version}" if version > 1 else one.name})


class FakeEpochs:
    """Epoch 3 ended with the first version, epoch 5 with the second one, epoch 1 before there was a table."""

    def stored_names(self, names, moment):
        held = {1: (), 3: ("dwd.sales",), 5: ("dwd.sales__v2",)}[moment.value]
        return {name: frozenset(held) if name == "dwd.sales" else frozenset({name}) for name in names}


def catalog(serving, *chain, retired=(), made=None):
    """`dwd.sales` at a version, with the versions that served and those that are stored."""
    other = table("dws.other", "id", "n")
    tables = {"dwd.sales": stored(AFTER, serving), "dws.other": other}
    made_ms = made or {"dwd.sales": MADE, "dwd.sales__v2": SWAP - 60_000}
    known = histories(
        tables,
        {"dwd.sales": chain, "dws.other": (VersionSince(1),)},
        [RetiredVersion(BEFORE, version, 7, {}, NOW) for version in retired],
        {name: dict.fromkeys(Tier, at) for name, at in made_ms.items()},
    )
    return CatalogWithPast(tables, KnownPast(known, FakeEpochs))


KEPT = catalog(2, VersionSince(1), VersionSince(2, SWAP), retired=(1,))
GONE = catalog(2, VersionSince(1), VersionSince(2, SWAP))
FIRST = catalog(1, VersionSince(1))
UNDONE = catalog(1, VersionSince(1), VersionSince(2, SWAP), VersionSince(1, BACK))
RESTORED = catalog(2, VersionSince(0), VersionSince(2, SWAP))

BEFORE_SWAP = [
    "timestamp as of '2026-01-09 23:59:59.999'",
    "timestamp as of '2026-01-10 01:59:59+02:00'",
    "timestamp as of current_timestamp() - interval 22 days",
    "version as of 'v1.3'",
    "as of epoch 3",
]
SINCE_SWAP = [
    "",
    "timestamp as of '2026-01-10 00:00:00'",
    "timestamp as of current_timestamp()",
    "version as of 'v2.3'",
    "as of epoch 5",
]


def reads(sql, known):
    return {use.title: use.table.name for use in parse_query(sql, known, NOW).uses}


@pytest.mark.parametrize("moment", BEFORE_SWAP)
def test_a_moment_before_the_version_that_serves_reads_the_one_that_served_then(moment):
    assert reads(f"select id, amount from dwd.sales {moment}", KEPT) == {"dwd.sales": "dwd.sales"}
    with pytest.raises(QueryRefusedError, match="unknown column 'cents'") as error:
        parse_query(f"select cents from dwd.sales {moment}", KEPT, NOW)
    assert "amount" in str(error.value), "the columns are those of that version"


@pytest.mark.parametrize("moment", SINCE_SWAP)
@pytest.mark.parametrize("known", [KEPT, GONE, RESTORED], ids=["kept", "gone", "restored"])
def test_a_moment_since_it_serves_reads_the_version_that_serves(moment, known):
    assert reads(f"select id, cents from dwd.sales {moment}", known) == {"dwd.sales": "dwd.sales__v2"}


@pytest.mark.parametrize("moment", BEFORE_SWAP)
@pytest.mark.parametrize("known", [GONE, RESTORED], ids=["gone", "restored"])
@pytest.mark.parametrize(
    "query",
    [
        "select id from dwd.sales {0}",
        "select count(*) from dwd.sales {0}",
        "select id from dwd.sales.warm {0}",
        "with c as (select id from dwd.sales {0}) select * from c",
        "select * from dws.other where id in (select id from dwd.sales {0})",
        "select n.id from dwd.sales n join dwd.sales {0} o using (id)",
        "select _kind from dwd.sales.changes {0}",
    ],
)
def test_a_moment_that_no_stored_version_has_is_refused_alike(moment, known, query):
    if "epoch" in moment:  # which is said of all tables, at the end
        query = query.replace(" {0}", "") + " {0}"
    with pytest.raises(RowsLostError, match=r"cannot be read as of .*version 2 serves since 2026-01-10 00:00") as error:
        parse_query(query.format(moment), known, NOW)
    assert error.value.at is not None
    assert "version 2 from 2026-01-10 00:00:00.000 UTC to now" in error.value.hint
    assert "keep_old_versions" in error.value.hint


@pytest.mark.parametrize("known", [KEPT, GONE, UNDONE, RESTORED], ids=["kept", "gone", "undone", "restored"])
def test_the_number_of_a_snapshot_must_say_of_which_version(known):
    for sql in ("select * from dwd.sales version as of 3", "select * from dwd.sales.changes since version 3"):
        with pytest.raises(RowsLostError, match="each version of the table counts its snapshots from 1") as error:
            parse_query(sql, known, NOW)
        assert ".3'" in error.value.hint
    assert reads("select * from dwd.sales version as of 3", FIRST) == {"dwd.sales": "dwd.sales"}
    assert reads("select * from dwd.sales version as of 'v1.3'", FIRST) == {"dwd.sales": "dwd.sales"}
    with pytest.raises(RowsLostError, match="had no version 9"):
        parse_query("select * from dwd.sales version as of 'v9.3'", known, NOW)


def test_a_version_that_was_undone_is_not_that_of_the_moments_between():
    for day, read in (("05", "dwd.sales"), ("25", "dwd.sales")):
        assert reads(f"select * from dwd.sales timestamp as of '2026-01-{day}'", UNDONE) == {"dwd.sales": read}
    with pytest.raises(RowsLostError, match="version 2, which served then, is not stored any more"):
        parse_query("select * from dwd.sales timestamp as of '2026-01-15'", UNDONE, NOW)


@pytest.mark.parametrize(
    ("known", "moment"),
    [
        (FIRST, "timestamp as of '2025-12-31'"),
        (KEPT, "timestamp as of '2025-12-31'"),
        (KEPT, "timestamp as of '0001-01-01'"),
        (KEPT, "as of epoch 1"),
        # Stored again, such as after a loss: what is there is younger than the version.
        (catalog(1, VersionSince(1), made={"dwd.sales": BACK}), "timestamp as of '2026-01-15'"),
        (
            catalog(2, VersionSince(1), VersionSince(2, SWAP), made={"dwd.sales__v2": BACK}),
            "timestamp as of '2026-01-15'",
        ),
    ],
)
def test_before_a_table_was_made_there_is_nothing_to_read(known, moment):
    with pytest.raises(RowsLostError, match=r"was made at 2026-01-|was not there then"):
        parse_query(f"select * from dwd.sales {moment}", known, NOW)


@pytest.mark.parametrize(
    ("since", "until"),
    [
        ("since timestamp '2026-01-05'", ""),
        ("since timestamp '2026-01-05'", "timestamp as of '2026-01-15'"),
        ("since epoch 3", "as of epoch 5"),
        ("since version 'v1.3'", "version as of 'v2.3'"),
    ],
)
def test_changes_do_not_go_from_one_version_into_another(since, until):
    with pytest.raises(RowsLostError, match="another version serves at"):
        parse_query(f"select _kind, id from dwd.sales.changes {until} {since}", KEPT, NOW)


def test_changes_within_a_version_are_read():
    sql = "select _kind, {0} from dwd.sales.changes timestamp as of '2026-01-{1}' since timestamp '2026-01-{2}'"
    assert reads(sql.format("amount", "07", "05"), KEPT) == {"dwd.sales$changes": "dwd.sales"}
    assert reads(sql.format("cents", "17", "15"), KEPT) == {"dwd.sales$changes": "dwd.sales__v2"}


def test_two_versions_in_one_query():
    sql = "select n.id, n.cents, o.amount from dwd.sales n join dwd.sales timestamp as of '2026-01-05' o using (id)"
    assert sorted(use.table.name for use in parse_query(sql, KEPT, NOW).uses) == ["dwd.sales", "dwd.sales__v2"]


def test_the_tiers_are_those_of_the_version():
    old = table("dwd.sales", "id", cold="forever")
    tables = {"dwd.sales": stored(AFTER, 2)}
    known = histories(
        tables, {"dwd.sales": (VersionSince(1), VersionSince(2, SWAP))}, [RetiredVersion(old, 1, 7, {}, NOW)], {}
    )
    asked = CatalogWithPast(tables, KnownPast(known))
    (use,) = parse_query("select * from dwd.sales timestamp as of '2026-01-05'", asked, NOW).uses
    assert use.tiers == (Tier.COLD,)
    with pytest.raises(QueryRefusedError, match="has no warm tier"):
        parse_query("select * from dwd.sales.warm timestamp as of '2026-01-05'", asked, NOW)


@pytest.mark.parametrize(
    ("moment", "why"),
    [
        ("timestamp as of '2026-01-31 12:00:00.001'", "has not come yet; it is 2026-01-31 12:00:00.000 UTC"),
        ("timestamp as of '2026-01-31 12:00:00-01:00'", "2026-01-31 13:00:00.000 UTC has not come yet"),
        ("timestamp as of '9999-12-31 23:59:59'", "has not come yet"),
        ("timestamp as of '9999-12-31T23:59:59-14:00'", "is no time"),
        ("timestamp as of '0001-01-01T00:00:00+14:00'", "is no time"),
        ("timestamp as of '2026-03-29 02:30:00 Europe/Berlin'", "is no time"),
        ("timestamp as of '2026-02-30'", "is no time"),
        ("timestamp as of date '2026-01-31 11:00'", "is no day"),
        ("timestamp as of cast('2026-01-31' as int)", "INT is no time"),
        ("timestamp as of current_timestamp() - interval 99999999999999999 days", "before the year 1"),
        ("timestamp as of 1769853600", "wants a time"),
        ("version as of '3'", "'3' is no version"),
        ("version as of 'v0.3'", "'v0.3' is no version"),
        ("version as of 'v1'", "'v1' is no version"),
        ("version as of -1", "does not parse"),
        ("as of epoch -1", "'-' is no epoch"),
        ("as of epoch '3'", "'3' is no epoch"),
    ],
)
def test_a_moment_that_is_none_is_refused(moment, why):
    with pytest.raises(QueryRefusedError) as error:
        parse_query(f"select id from dws.other {moment}", KEPT, NOW)
    assert why in str(error.value)


@pytest.mark.parametrize(
    "sql",
    [
        "with c as (select * from dws.other) select id from c version as of 3",
        "with c as (select * from dws.other) select id from c timestamp as of '2026-01-01'",
        "select 1 as of epoch 3",
        "select id from range(5) as of epoch 3",
    ],
)
def test_a_moment_of_something_that_is_no_table_is_refused(sql):
    with pytest.raises(QueryRefusedError, match=r"only a table has moments|reads none"):
        parse_query(sql, KEPT, NOW)


def test_a_day_is_its_midnight():
    for day in ("date '2026-01-05'", "cast('2026-01-05' as date)", "'2026-01-05'", "timestamp '2026-01-05'"):
        (use,) = parse_query(f"select id from dwd.sales timestamp as of {day}", KEPT, NOW).uses
        assert str(use.moment) == "2026-01-05 00:00:00.000 UTC"


def test_an_environment_has_one_version_of_its_own():
    tables = {"dwd.sales": stored(AFTER, 3)}
    known = histories(
        tables, {"dwd.sales": (VersionSince(1), VersionSince(2, SWAP))}, [], {"dwd.sales__v3": {Tier.WARM: BACK}}
    )
    asked = CatalogWithPast(tables, KnownPast(known, FakeEpochs))
    assert reads("select * from dwd.sales timestamp as of '2026-01-25'", asked) == {"dwd.sales": "dwd.sales__v3"}
    assert reads("select * from dwd.sales version as of 3", asked) == {"dwd.sales": "dwd.sales__v3"}
    for moment in ("timestamp as of '2026-01-15'", "as of epoch 5"):
        with pytest.raises(RowsLostError, match="cannot be read as of"):
            parse_query(f"select * from dwd.sales {moment}", asked, NOW)


def test_an_epoch_tells_where_the_version_of_its_time_ended():
    old = EpochRecord("retail", "main", 3, 1, 1, 1, ends={"dwd.sales": {"0": 4}, "dws.other": {"0": 1}})
    new = EpochRecord("retail", "main", 5, 1, 1, 1, ends={"dwd.sales__v2": {"0": 9}, "dws.other": {"0": 2}})
    main = SimpleNamespace(name="main", tables=["dwd.sales__v2", "dws.other"], reads=frozenset())
    epochs = Epochs([SimpleNamespace(flow="retail", segments=[main])], lambda *_: [new, old], lambda *_: False)
    third, fifth = Moment(MomentKind.EPOCH, 3), Moment(MomentKind.EPOCH, 5)
    names = ["dwd.sales", "dws.other"]
    assert epochs.stored_names(names, third) == {name: frozenset({name}) for name in names}
    assert epochs.stored_names(["dwd.sales"], fifth) == {"dwd.sales": frozenset({"dwd.sales__v2"})}
    assert epochs.positions({"dwd.sales": "dwd.sales", "dws.other": "dws.other"}, third) == old.ends
    assert epochs.positions({"dwd.sales__v2": "dwd.sales"}, fifth) == {"dwd.sales__v2": {"0": 9}}
    with pytest.raises(RowsLostError, match=r"before dwd\.sales got the version that serves now"):
        epochs.positions({"dwd.sales__v2": "dwd.sales"}, third)
    assert epochs.end_at_rest("dwd.sales__v2") == {"0": 9}
    assert epochs.end_at_rest("dwd.sales") is None
