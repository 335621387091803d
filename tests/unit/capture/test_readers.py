"""Who reads a captured table, and how far each is."""

from streamhouse.capture.readers import readers_of
from streamhouse.model.outcome import Outcome
from streamhouse.state.changes import Wish
from streamhouse.state.records import EpochRecord
from tests.capture import ORDERS, Shop

TABLE = "public.orders"
AT = {"1/00000001.jsonl": 7}


def found(shop, flows):
    with shop.project.state() as state:
        readers = readers_of(state, "shop", flows, lambda _: True)
        assert readers_of(state, "another", flows, lambda _: True) == []
    return sorted(((one.name, one.table, one.position) for one in readers), key=str)


def test_a_flow_whose_rows_are_the_changes_needs_all_of_them_for_ever(tmp_path):
    shop = Shop(tmp_path / "shop", "postgresql://me@localhost:1/shop")
    shop.reads("a", mode="append", orders=(TABLE, ORDERS, ["id"]))
    shop.is_at("a", orders=AT)
    assert found(shop, {"a"}) == [("flow a", TABLE, None)]


def test_flows_and_what_is_filled_beside_them(tmp_path):
    shop = Shop(tmp_path / "shop", "postgresql://me@localhost:1/shop")
    for flow in ("a", "b"):
        shop.reads(flow, orders=(TABLE, ORDERS, ["id"]))
    assert found(shop, {"a", "b"}) == [("flow a", TABLE, None), ("flow b", TABLE, None)]
    shop.is_at("a", orders=AT)
    shop.is_at("b")  # an epoch that read nothing of it
    assert found(shop, {"a", "b"}) == [("flow a", TABLE, AT), ("flow b", TABLE, {})]
    assert found(shop, {"b"}) == [("flow b", TABLE, {})], "a flow without a file that does not run"
    assert len(found(shop, None)) == 2, "a file cannot be read, so every flow counts"
    with shop.project.state() as state:
        _, plan = state.plan("a")
        change = state.ask_change(Wish(plan, Outcome.REBUILD, frozenset({"ods.a_orders"})), "ann")
    filled = f"change {change.id} of flow a"
    assert found(shop, {"a"}) == [(filled, TABLE, None), ("flow a", TABLE, AT)]
    with shop.project.state() as state:
        state.begin_at([EpochRecord(change.candidate, "main", 0, 1, 1, 1, end={"orders": {}})])
    assert found(shop, {"a"}) == [(filled, TABLE, {}), ("flow a", TABLE, AT)]
    with shop.project.state() as state:
        state.withdraw_change("a")
    assert found(shop, {"a"}) == [("flow a", TABLE, AT)]
