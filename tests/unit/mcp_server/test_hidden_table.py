"""A table whose schema may not be told, with everything that hangs on it, through every tool and every address."""

import json

import pytest

from streamhouse.jobs.ask import ask
from streamhouse.project.desired import desired_plans
from tests.scripted_models import CLERKS, FLOW, SALES, WAGES, write_shop
from tests.unit.mcp_server.conftest import Tools

pytestmark = pytest.mark.proof

SECRET = (
    "wages_paid", "wage_grade", "paid_cents", "keep_wages", "union", "pay band", "poor", "rich", "gross pay", "stipend",
    "grading", "wages.csv", "What each clerk earns",
)  # fmt: skip
DENIED = WAGES.replace(
    "ai: {schema",
    "synonyms: [stipend]\nmeasures: {gross: {sql: SUM(paid_cents), description: gross pay}}\n"
    "dimensions: {grading: {column: wage_grade}}\nexpect: {known: {check: wage_grade IS NOT NULL}}\nai: {schema",
)
COPIES = CLERKS.replace("output: {p", "ai: {rows: allowed}\noutput: {p").replace(
    "wage_grade AS band", "wage_grade AS band, COALESCE(wage_grade, 'none') AS level"
)
SAYS = SALES.replace("Each sale as it came.", "Sales; clerk_no as in ods.wages_paid, beside wage_grade.").replace(
    "synonyms: [remark]", "synonyms: [remark, wage_grade]"
)
ISOLATED = FLOW.replace("writes: ods.wages_paid}", "writes: ods.wages_paid, isolate: true}").replace(
    "flow: shop", "flow: shop\ndescription: Sales, and ods.wages_paid."
)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    return write_shop(tmp_path, keep_wages=DENIED, list_clerks=COPIES, keep_sales=SAYS, shop=ISOLATED)


def calls():
    yield from (("search", {"text": text}) for text in ("", "wage", "grade", "clerks", "rich", "pay band", "shop"))
    for name in ("shop", "ods.sales", "ods.stores", "dwd.clerks", "dwd.clerks.band", "dwd.clerks.level", "keep_sales",
                 "dwd.clerk", "list_clerk", "keep_wage", "ods.wages", "wages"):  # fmt: skip
        yield "describe", {"name": name}
    yield from (("diagnose", {"name": name}) for name in ("shop", "ods", "dwd.clerks", "ods.wage", "sho"))
    yield from ((tool, {}) for tool in ("validate", "plan", "diagnose"))
    for wish in ("sales per band", "sum of paid cents per wage grade", "clerks per level", "rows of clerks", "blorp"):
        yield "ask", {"wish": wish, "rows": 3}
    for sql in ("SELECT nope FROM dwd.clerks", "SELECT * FROM ods.wage_paid", "SELECT wage FROM ods.sales"):
        yield "query", {"sql": sql}


def assert_nothing_told(shown, echoed=""):
    for word in SECRET:
        if word not in echoed:
            assert word not in shown, (word, echoed, shown)


@pytest.mark.parametrize("ran", [False, True], ids=["files", "applied"])
def test_no_tool_tells_of_it(shop, ran):
    if ran:
        from streamhouse.project.check import load_registry

        with shop.state() as state:
            state.save_plan(desired_plans(shop)["shop"], definition=load_registry(shop).definition("shop"))
            for kind in ("retry", "expectation", "segments"):
                state.append_event("shop", kind, "ods.wages_paid: 3 rows violate known (wage_grade IS NOT NULL)")
    call = Tools(shop)
    for tool, arguments in calls():
        found = call(tool, **arguments)
        assert_nothing_told(json.dumps(found.document), json.dumps(arguments).replace("wage grade", "wage_grade"))
    clerks = call("describe", name="dwd.clerks").document["table"]
    assert [one["name"] for one in clerks["columns"]] == ["clerk_no", "band", "level"]
    assert [list(one["values"]) for one in clerks["columns"]] == [[], [], ["none"]], "those of hidden rows are left out"
    assert call("describe", name="shop").document["flow"]["sources"].keys() == {"sales", "stores"}


def test_no_address_tells_of_it(shop):
    call = Tools(shop)

    async def every(client):
        listed = [str(one.uri) for one in (await client.list_resources()).resources]
        return listed, [
            (await client.read_resource(uri)).contents[0].text for uri in listed if "list_clerks" not in uri
        ]

    listed, read = call.of(every)
    assert_nothing_told(json.dumps([listed, read]))
    assert not any("list_clerks" in uri for uri in listed)


def test_a_prompt_holds_only_what_was_filled_in(shop):
    prompt = Tools(shop).of(lambda client: client.get_prompt("why_is_this_table_late", {"table": "dwd.clerks"}))
    assert_nothing_told(prompt.model_dump_json())


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("actions/clean/list_clerks.sql", "SELECT clerk_no, wage_grade AS", "SELECT clerk_no, wage_grad AS"),
        ("actions/clean/list_clerks.sql", "wage_grade: string}}", "wage_graded: string}}"),
        ("actions/ingest/keep_wages.sql", "paid_cents FROM", "paid_cent FROM"),
        ("actions/ingest/keep_wages.sql", "measures: {gross", "measure: {gross"),
        ("flows/shop.yaml", "{rows: ods.wages_paid}", "{rows: ods.wages_pad}"),
        ("flows/shop.yaml", "use: keep_wages", "use: keep_wage"),
        ("flows/shop.yaml", "- {use: keep_sales", "- {use: keep_wage, writes: ods.other}\n  - {use: keep_sales"),
    ],
)
@pytest.mark.parametrize("ran", [False, True], ids=["files", "applied"])
def test_a_wrong_file_tells_nothing_of_it(shop, file, old, new, ran):
    if ran:
        with shop.state() as state:
            state.save_plan(desired_plans(shop)["shop"])
    path = shop.root / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    call = Tools(shop)
    asked = [("validate", {}), ("plan", {}), ("diagnose", {}), ("search", {"text": ""}), ("describe", {"name": "shop"}),
             ("describe", {"name": "dwd.clerks"}), ("ask", {"wish": "sales per store"}),
             ("query", {"sql": "SELECT * FROM dwd.clerks"})]  # fmt: skip
    for tool, arguments in asked:
        shown = json.dumps(call(tool, **arguments).document)
        assert_nothing_told(shown.replace("actions/ingest/keep_wages.sql", ""))  # the place of an error is no secret
    assert not call("validate").document["ok"]


def test_a_persons_question_about_it_is_not_told(shop):
    made = ask(shop, "sum of paid cents per wage grade of ods.wages_paid")
    error = Tools(shop).refused(lambda client: client.read_resource(f"streamhouse://proposal/{made.id}"))
    assert_nothing_told(str(error))
