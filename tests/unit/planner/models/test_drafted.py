import pytest

from streamhouse.errors import StreamhouseError
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable
from streamhouse.planner.models.answer import ActionDraft
from streamhouse.planner.models.drafted import drafted
from streamhouse.planner.sharing import shared_catalog
from streamhouse.planner.workspace import Workspace
from tests.scripted_models import write_shop

GROUPED_FIRST = """
WITH d AS (SELECT store_id, SUM(cents) AS c FROM ods.sales GROUP BY store_id)
SELECT t.kind, AVG(t.store_id) AS c, COUNT(*) AS n FROM ods.stores t JOIN d ON d.store_id = t.store_id GROUP BY t.kind
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return shared_catalog(Workspace.of(write_shop(tmp_path_factory.mktemp("shop"))).catalog)


def _drafted(sql, shared, *key, **more):
    draft = ActionDraft(name="x", layer="dws", description="d", sql=sql, primary_key=key, **more)
    return drafted(draft, shared)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("DROP TABLE ods.sales", "SH104"),
        ("SELECT id FROM ods.sales; DROP TABLE ods.sales", "SH104"),
        ("INSERT INTO ods.sales SELECT * FROM ods.sales", "SH104"),
        ("SELECT * FROM ods.wages_paid", "SH701"),  # not told
        ("SELECT s.id FROM ods.sales s WHERE EXISTS (SELECT 1 FROM ods.wages_paid w WHERE w.clerk_no = s.id)", "SH701"),
        ("SELECT * FROM other.ods.sales", "SH701"),
        ("SELECT * FROM parquet.`/etc/passwd`", "SH701"),
        ("SELECT * FROM sales", "SH701"),
        ("SELECT reflect('java.lang.System', 'exit', 1) AS x FROM ods.sales", "SH211"),
        ("SELECT java_method('java.lang.System', 'exit', 1) AS x FROM ods.sales", "SH211"),
        ("SELECT input_file_name() AS x FROM ods.sales", "SH211"),
        ("SELECT nobody_knows(id) AS x FROM ods.sales", "SH210"),
        ("SELECT rand() AS x FROM ods.sales", "SH211"),
        ("SELECT id, nothing FROM ods.sales", "SH202"),
        ("SELECT 1 AS one", "SH705"),
        ("SELECT id + note AS x, id AS x FROM ods.sales", "SH215"),
        ("SELECT * FROM range(10)", "SH705"),
    ],
)
def test_sql_with_other_tables_or_functions_is_refused(sql, code, shared):
    with pytest.raises(StreamhouseError) as refused:
        _drafted(sql, shared)
    codes = {error.code for error in getattr(refused.value, "errors", (refused.value,))}
    assert code in codes, refused.value
    assert "keep_wages" not in str(refused.value)


@pytest.mark.parametrize(
    ("sql", "key", "code"),
    [
        ("SELECT city, SUM(s.cents) AS c FROM ods.stores t JOIN ods.sales s ON s.store_id = t.store_id GROUP BY city",
         "city", "SH703"),
        ("SELECT s.note, SUM(t.store_id) AS c FROM ods.sales s JOIN ods.stores t ON s.store_id = t.store_id GROUP BY 1",
         "note", "SH703"),
        ("SELECT s.note, COUNT(*) AS c FROM ods.sales s JOIN ods.stores t ON s.note = t.city GROUP BY s.note",
         "note", "SH703"),
        ("SELECT s.note, COUNT(*) AS c FROM ods.sales s, ods.stores t WHERE s.store_id = t.store_id GROUP BY s.note",
         "note", "SH703"),
        ("SELECT note, store_id, COUNT(*) AS c FROM ods.sales GROUP BY note, store_id", "note", "SH705"),
        ("SELECT note, COUNT(*) AS c FROM ods.sales GROUP BY note, store_id", "note", "SH705"),
        ("SELECT note, COUNT(*) AS c FROM ods.sales GROUP BY note", "nothing", "SH202"),
        ("SELECT id, cents FROM ods.sales", "cents", "SH705"),
    ],
)  # fmt: skip
def test_sums_over_doubled_rows_and_keys_that_rows_share_are_refused(sql, key, code, shared):
    with pytest.raises(StreamhouseError) as refused:
        _drafted(sql, shared, key)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("sql", "key", "known"),
    [
        ("SELECT city, SUM(s.cents) AS c FROM ods.sales s LEFT JOIN ods.stores t ON s.store_id = t.store_id GROUP BY 1",
         "city", True),
        ("SELECT s.note, MAX(t.city) AS c FROM ods.sales s JOIN ods.stores t ON s.note = t.city GROUP BY s.note",
         "note", True),
        (GROUPED_FIRST, "kind", True),
        ("SELECT id, cents FROM ods.sales", "id", True),
        ("SELECT note, cents FROM ods.sales QUALIFY ROW_NUMBER() OVER (PARTITION BY note ORDER BY id) = 1", "note",
         False),
        ("SELECT DISTINCT note FROM ods.sales", "note", True),
    ],
)  # fmt: skip
def test_sums_over_whole_rows_pass(sql, key, known, shared):
    found = _drafted(sql, shared, key)
    assert found.is_key_known is known
    assert found.composed.key == (key,)


DOUBLED = "SELECT s.cents, t.city FROM ods.sales s JOIN ods.stores t ON s.note = t.city"
ONCE = "SELECT s.cents, t.city FROM ods.sales s JOIN ods.stores t ON s.store_id = t.store_id"
OTHER_SIDE = "SELECT t.store_id AS cents, t.city FROM ods.sales s JOIN ods.stores t ON s.store_id = t.store_id"


@pytest.mark.parametrize(
    "inner", [DOUBLED, OTHER_SIDE, f"{ONCE} UNION ALL {DOUBLED}", f"SELECT * FROM ({DOUBLED}) AS e"]
)
@pytest.mark.parametrize(
    "around",
    [
        "WITH d AS ({inner}) SELECT city, SUM(cents) AS c FROM d GROUP BY city",
        "SELECT d.city, SUM(d.cents) AS c FROM ({inner}) AS d GROUP BY d.city",
        "WITH d AS ({inner}), e AS (SELECT * FROM d WHERE cents > 0) SELECT city, AVG(cents) AS c FROM e GROUP BY city",
    ],
)
def test_sums_over_rows_that_were_doubled_below_are_refused(inner, around, shared):
    if inner is OTHER_SIDE and " e AS " in around:
        return  # its columns go through two queries
    with pytest.raises(StreamhouseError) as refused:
        _drafted(around.format(inner=inner), shared, "city")
    assert refused.value.code == "SH703"


@pytest.mark.parametrize(
    "sql",
    [
        f"WITH d AS ({ONCE}) SELECT city, SUM(cents) AS c FROM d GROUP BY city",
        f"WITH d AS ({DOUBLED}) SELECT city, MAX(cents) AS c FROM d GROUP BY city",
        f"WITH d AS (SELECT DISTINCT * FROM ({DOUBLED}) AS x) SELECT city, COUNT(*) AS c FROM d GROUP BY city",
    ],
)
def test_sums_over_rows_that_are_there_once_below_pass(sql, shared):
    assert _drafted(sql, shared, "city").is_key_known


UNITS = CatalogTable(
    "dwd.lines", "f", "a",
    (CatalogColumn("id", "bigint"), CatalogColumn("cents", "bigint", unit="cents"),
     CatalogColumn("fee", "bigint", unit="Cents"), CatalogColumn("grams", "bigint", unit="g"),
     CatalogColumn("pieces", "bigint")),
    primary_key=("id",),
)  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "fits"),
    [
        ("SELECT id, cents + grams AS x FROM dwd.lines", False),
        ("SELECT id FROM dwd.lines WHERE cents > grams", False),
        ("SELECT id FROM dwd.lines WHERE cents BETWEEN 1 AND grams", False),
        ("SELECT id, SUM(cents) - SUM(grams) AS x FROM dwd.lines GROUP BY id", False),
        ("WITH d AS (SELECT id, SUM(cents) a, MAX(grams) b FROM dwd.lines GROUP BY 1) SELECT id, a + b AS x FROM d",
         False),
        ("SELECT id, CAST(cents AS DOUBLE) - COALESCE(grams, 0) AS x FROM dwd.lines", False),
        ("SELECT id, cents + fee AS x FROM dwd.lines", True),
        ("SELECT id, cents + pieces AS x FROM dwd.lines", True),
        ("SELECT id, cents / 100 + grams AS x FROM dwd.lines", True),
        ("SELECT id, cents * grams AS x FROM dwd.lines", True),
    ],
)  # fmt: skip
def test_numbers_of_two_units_are_neither_added_nor_compared(sql, fits):
    catalog = Catalog({UNITS.name: UNITS})
    if fits:
        assert _drafted(sql, catalog, "id")
        return
    with pytest.raises(StreamhouseError) as refused:
        _drafted(sql, catalog, "id")
    assert refused.value.code == "SH704"


def test_types_are_known(shared):
    found = _drafted("SELECT note, COUNT(*) AS n FROM ods.sales GROUP BY note", shared, "note")
    assert {name: str(kind) for name, kind in found.composed.columns.items()} == {"note": "string", "n": "bigint"}
