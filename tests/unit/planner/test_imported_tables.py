"""Names, keys and joins of tables that are imported."""

from streamhouse.planner.found_tables import FoundColumn, FoundKey, FoundTable, TablePatterns
from streamhouse.planner.imported_flow import Ingest, flow_text
from streamhouse.planner.imported_joins import joined_actions
from streamhouse.planner.imported_tables import imported_tables
from streamhouse.registry.read_action import read_action
from streamhouse.registry.read_flow import read_flow


def table(name, *columns, key=("id",), foreign=(), **more):
    found = tuple(FoundColumn(column, kind, kind) for column, kind in (("id", "int"), *columns))
    options = {"postgres": {"connection": "shop", "table": name}}
    return FoundTable(name, "cdc", options, found, key, tuple(foreign), **more)


def test_names_stay_apart():
    names = ("a.Orders", "b.orders", "a.2024", "a.users", "a.été", "a.a_orders")
    found, refused = imported_tables([table(name) for name in names], {"users", "shop_users"}, "shop")
    assert not refused
    sources = [one.source for one in found]
    assert sources == ["a_orders", "b_orders", "t_2024", "shop_a_users", "t", "shop_a_orders"]
    text = flow_text("shop", "Tables.", Ingest("ingest_as_is"), found, refused)
    assert sorted(read_flow(text, "flows/shop.yaml").sources) == sorted(sources)


def test_a_comment_is_no_yaml():
    column = FoundColumn("id", "int", "int", description="a: {b}\n- c # d\x07")
    odd = FoundTable("a.b", "cdc", {}, (column, FoundColumn("x\nsteps: []", "int", "int")), ("id",), description="*/")
    found, refused = imported_tables([odd, table("a.v", refusal="it is\na view")], (), "shop")
    text = flow_text("shop", "Tables.", Ingest("ingest_as_is"), found, refused)
    flow = read_flow(text, "flows/shop.yaml")
    assert flow.tables["ods.b"].columns["id"].description == "a: {b} - c # d\x07"
    assert len(flow.steps) == 1
    assert "# left out: a.v: it is a view" in text


def test_event_times():
    for names, guess in (
        (("at",), "at"),
        (("updated_at",), None),
        (("start", "end"), None),
        (("changed", "created_at", "shipped_at"), "created_at"),
        (("created_at", "placed_at"), "placed_at"),
    ):
        ((found,), _) = imported_tables([table("a.b", *((name, "timestamp") for name in names))], (), "shop")
        assert found.event_time == guess


def joins(*tables, taken=()):
    found, _ = imported_tables(tables, (), "shop")
    return {one.source: action for one, action in joined_actions(found, taken)}


def test_joins_follow_foreign_keys():
    people = table("a.people", ("name", "string"), ("home_city", "string"))
    key = [FoundKey(("buyer_id",), "a.people", ("id",)), FoundKey(("seller_id",), "a.people", ("id",))]
    columns = [("buyer_id", "int"), ("seller_id", "int"), ("buyer_name", "string")]
    found = joins(people, table("a.sales", *columns, foreign=key), taken=("sales_joined",))
    (action,) = found.values()
    assert action.name == "imported_sales_joined"
    (read, _) = read_action(action.text, action.path)
    assert read.output.primary_key == ("id",)
    names = [one.alias_or_name for one in action.sql.selects]
    assert len(set(names)) == len(names) == 8
    assert {"buyer_name", "buyer_name_2", "buyer_home_city", "seller_name", "seller_home_city"} < set(names)


def test_what_is_not_joined():
    people = table("a.people", ("name", "string"), ("boss", "int"), foreign=[FoundKey(("boss",), "a.people", ("id",))])
    other_type = table("a.b", ("who", "bigint"), foreign=[FoundKey(("who",), "a.people", ("id",))])
    no_key = table("a.c", ("who", "string"), foreign=[FoundKey(("who",), "a.people", ("name",))])
    nothing_more = table("a.d", ("e", "int"), foreign=[FoundKey(("e",), "a.only", ("id",))])
    not_there = table("a.f", ("g", "int"), foreign=[FoundKey(("g",), "a.elsewhere", ("id",))])
    assert joins(people, other_type, no_key, nothing_more, table("a.only"), not_there) == {}


def test_patterns_that_match_nothing():
    patterns = TablePatterns(("a.*", "b.*"), ("*.x",))
    assert patterns.idle(["a.x", "a.y"]) == ["b.*"]
    assert [name for name in ("a.x", "a.y", "c.y") if patterns.match(name)] == ["a.y"]
