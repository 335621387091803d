"""SQL of a model whose figures say something else than they seem to is refused, and what is right passes."""

import pytest

from streamhouse.errors import StreamhouseError
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable
from streamhouse.planner.models.answer import ActionDraft
from streamhouse.planner.models.drafted import drafted


def _table(name, columns, *key, **units):
    found = tuple(CatalogColumn(column, kind, unit=units.get(column)) for column, kind in columns.items())
    return CatalogTable(name, "f", "a", found, primary_key=key)


TABLES = (
    _table("ods.sales", {"id": "bigint", "store_id": "bigint", "cents": "bigint", "grams": "bigint", "note": "string",
                         "tags": "array<string>", "at": "timestamp"}, "id", cents="cents", grams="g"),
    _table("ods.stores", {"store_id": "bigint", "city": "string", "kind": "string", "rent": "bigint"}, "store_id",
           rent="cents"),
    _table("dwd.prices", {"store_id": "bigint", "valid_from": "timestamp", "valid_to": "timestamp", "price": "bigint"},
           "store_id", "valid_from", price="cents"),
    _table("ods.log", {"store_id": "bigint", "what": "string"}),
)  # fmt: skip
CATALOG = Catalog({table.name: table for table in TABLES})
JOINED = "ods.sales s JOIN ods.stores t ON s.store_id = t.store_id"
LOGGED = "ods.sales s JOIN ods.log l ON l.store_id = s.store_id"


def _refusals(cases):
    """Name → the code and the message of the refusal; empty: it passed."""
    found = {}
    for name, (query, *key) in cases.items():
        draft = ActionDraft(name="x", layer="dws", description="d", sql=query, primary_key=tuple(key))
        try:
            drafted(draft, CATALOG)
            found[name] = ""
        except StreamhouseError as error:
            found[name] = f"{error.code} {error.message}"
    return found


def _by_note(of, columns="s.note, SUM(s.cents) AS c"):
    return f"SELECT {columns} FROM {of} GROUP BY 1", columns.partition(",")[0].split(".")[-1]


def _over(inner, columns="note, SUM(cents) AS c"):
    return f"SELECT {columns} FROM ({inner}) d GROUP BY 1", columns.partition(",")[0]


SEVERAL_TIMES = {
    "a generator below": _over("SELECT note, cents, explode(tags) AS e FROM ods.sales"),
    "stack below": _over("SELECT note, cents, stack(2, 1, 2) AS e FROM ods.sales"),
    "a generator below a grouping": _over("SELECT note, SUM(cents) AS cents, explode(array(1, 2)) FROM ods.sales "
                                          "GROUP BY note"),
    "a generator in what is joined": _by_note("ods.sales s JOIN (SELECT store_id, explode(array(1, 2)) FROM ods.stores)"
                                              " t ON t.store_id = s.store_id"),
    "a lateral view": _by_note("ods.sales s LATERAL VIEW explode(tags) x AS e"),
    "unpivot": ("SELECT note, COUNT(*) AS c FROM ods.sales UNPIVOT (v FOR k IN (cents, store_id)) GROUP BY note",
                "note"),
    "a lateral query": _by_note("ods.sales s JOIN LATERAL (SELECT city FROM ods.stores t WHERE t.city = s.note) l"),
    "a part of the key": _by_note("ods.sales s JOIN dwd.prices p ON s.store_id = p.store_id"),
    "a part of the key, by USING": _by_note("ods.sales s JOIN dwd.prices p USING (store_id)"),
    "versions of a history": _by_note("ods.sales s JOIN dwd.prices p ON s.store_id = p.store_id AND s.at >= "
                                      "p.valid_from AND s.at < p.valid_to"),
    "a cross join and a filter": _by_note("ods.sales s CROSS JOIN ods.stores t WHERE t.city = s.note"),
    "an inequality": _by_note("ods.sales s JOIN ods.stores t ON t.store_id > s.store_id"),
    "an alternative": _by_note("ods.sales s JOIN ods.stores t ON s.store_id = t.store_id OR t.city = 'x'"),
    "joins in parentheses": _by_note(f"({LOGGED})"),
    "joins in parentheses on the right": _by_note("ods.sales s JOIN (ods.stores t JOIN ods.log l ON l.store_id = "
                                                  "t.store_id) ON s.store_id = t.store_id"),
    "values": _by_note("ods.sales s JOIN (VALUES (1), (1)) v(k) ON s.store_id = v.k"),
    "a range": _by_note("ods.sales s CROSS JOIN range(3)"),
    "a window": (f"SELECT s.id, SUM(s.cents) OVER (PARTITION BY s.note) AS c FROM {LOGGED}", "id"),
    "a middle": _by_note(LOGGED, "s.note, percentile(s.cents, 0.5) AS c"),
    "a key that the join repeats": (f"SELECT s.id, l.what FROM {LOGGED}", "id"),
    "a key that a join below repeats": (f"SELECT d.id, d.what FROM (SELECT s.id, l.what FROM {LOGGED}) d", "id"),
    "a joined value that the base chooses": _by_note(
        JOINED, "t.city, SUM(CASE WHEN s.note = 'x' THEN t.rent END) AS c"),
    "a joined value by IF": _by_note(JOINED, "t.city, SUM(IF(s.note = 'x', t.rent, 0)) AS c"),
    "a joined value by decode": _by_note(JOINED, "t.city, SUM(decode(s.note, 'x', t.rent)) AS c"),
    "a joined value two queries below": _over(
        f"SELECT * FROM (SELECT t.city AS note, t.rent AS cents FROM {JOINED}) e"),
    "one value for all": _by_note(JOINED, "t.city, SUM((SELECT MAX(rent) FROM ods.stores)) AS c"),
    "a union of the same": _over("SELECT note, cents FROM ods.sales UNION ALL SELECT note, cents FROM ods.sales"),
    "a union that overlaps": _over("SELECT note, cents FROM ods.sales WHERE cents > 5 UNION ALL "
                                   "SELECT note, cents FROM ods.sales WHERE cents > 9"),
    "a union with names that are not used": _over("SELECT note, cents, 'a' AS k FROM ods.sales UNION ALL "
                                                  "SELECT note, cents, 'b' AS k FROM ods.sales"),
    "rows that show nothing of a join": ("SELECT s.note, s.cents FROM ods.sales s JOIN ods.log l ON TRUE",),
    "rows that show nothing of an array": (
        "SELECT note FROM (SELECT note, cents FROM ods.sales LATERAL VIEW explode(tags) x AS tag) d",
    ),
    "a union at the end": ("SELECT id, cents FROM ods.sales UNION ALL SELECT id, cents FROM ods.sales", "id"),
    "a union of three": _over("SELECT note, cents FROM ods.sales UNION ALL SELECT city, rent FROM ods.stores "
                              "UNION ALL SELECT note, cents FROM ods.sales"),
    "a join in a part of a union of three": _over(
        "SELECT note, cents FROM ods.sales UNION ALL SELECT city, rent FROM ods.stores UNION ALL "
        f"SELECT l.what, s.cents FROM {LOGGED}"),
}  # fmt: skip
SOMETHING_ELSE = {
    "a sum of distinct values": _by_note("ods.sales s", "note, SUM(DISTINCT cents) AS c"),
    "an average of distinct values": _by_note(LOGGED, "s.note, AVG(DISTINCT s.cents) AS c"),
    "distinct rows": _over("SELECT DISTINCT note, cents FROM ods.sales"),
    "a union of distinct rows": _over("SELECT note, cents FROM ods.sales WHERE store_id = 1 UNION "
                                      "SELECT note, cents FROM ods.sales WHERE store_id = 2"),
    "an average of averages": _over("SELECT note, store_id, AVG(cents) AS cents FROM ods.sales GROUP BY 1, 2",
                                    "note, AVG(cents) AS c"),
    "a sum of averages": _over("SELECT note, store_id, AVG(cents) AS cents FROM ods.sales GROUP BY 1, 2"),
    "an average of ratios": _over("SELECT note, store_id, SUM(cents) / COUNT(*) AS cents FROM ods.sales GROUP BY 1, 2",
                                  "note, AVG(cents) AS c"),
    "a sum of distinct counts": _over(
        "SELECT note, store_id, COUNT(DISTINCT id) AS cents FROM ods.sales GROUP BY 1, 2"),
    "rows without a partner": _by_note("ods.sales s RIGHT JOIN ods.stores t ON s.store_id = t.store_id",
                                       "t.city, COUNT(*) AS c"),
    "a key without the group": ("SELECT note, store_id, COUNT(*) AS c FROM ods.sales GROUP BY note, store_id", "note"),
    "a key without the key": ("SELECT note, cents FROM ods.sales", "note"),
    "a key of exploded rows": ("SELECT id, explode(tags) AS tag FROM ods.sales", "id"),
    "the time": ("SELECT id, now() AS seen FROM ods.sales", "id"),
    "an age": ("SELECT id, unix_timestamp() - unix_timestamp(at) AS age FROM ods.sales", "id"),
    "a limit": ("SELECT id, cents FROM ods.sales LIMIT 9", "id"),
    "a limit below": _over("SELECT note, cents FROM ods.sales LIMIT 9"),
    "ties": ("SELECT id, cents FROM ods.sales ORDER BY cents LIMIT 9", "id"),
    "an offset": ("SELECT id, cents FROM ods.sales OFFSET 9", "id"),
    "a list": _by_note("ods.sales s", "note, listagg(id, ',') AS c"),
    "a running sum with ties": (
        "SELECT id, SUM(cents) OVER (ORDER BY at ROWS UNBOUNDED PRECEDING) AS c FROM ods.sales", "id"),
}  # fmt: skip
TWO_UNITS = {
    **{of: (f"SELECT id, {of} AS x FROM ods.sales", "id") for of in (
        "COALESCE(cents, grams)", "CASE WHEN note = 'x' THEN cents ELSE grams END", "IF(note = 'x', cents, grams)",
        "GREATEST(cents, 0, grams)", "nvl2(note, cents, grams)", "decode(note, 'x', cents, grams)", "cents % grams",
        "CASE WHEN note = 'x' THEN cents ELSE 0 END + grams", "NULLIF(cents, grams)", "cents * 1 - grams",
        "array_max(array(cents, grams))", "try_add(cents, grams)", "cents + (SELECT MAX(grams) FROM ods.sales)",
        "cents IS DISTINCT FROM grams", "equal_null(cents, grams)", "lag(cents, 1, grams) OVER (ORDER BY id)",
        "stack(2, cents, grams)", "COALESCE(NULL, CAST(cents AS DOUBLE), ROUND(grams))",
    )},
    **{where: (f"SELECT id FROM ods.sales WHERE {where}", "id") for where in (
        "cents <=> grams", "cents IN (grams, 3)", "cents IN (SELECT grams FROM ods.sales)", "cents = ABS(grams)",
    )},
    "a union": _over("SELECT note, cents FROM ods.sales UNION ALL SELECT note, grams FROM ods.sales"),
    "a union at the end": ("SELECT id, cents AS x FROM ods.sales UNION ALL SELECT store_id, grams FROM ods.sales",),
    "a column of a union": _over(
        "SELECT note, cents, grams FROM ods.sales UNION ALL SELECT city, rent, 0 FROM ods.stores",
        "note, SUM(cents) - SUM(grams) AS x"),
    "a join": (f"SELECT s.id FROM {JOINED} AND s.grams > t.rent", "id"),
    "unpivot": ("SELECT id, k, v FROM ods.sales UNPIVOT (v FOR k IN (cents, grams))", "id", "k"),
}  # fmt: skip
RIGHT = {
    "what is joined by its key": _by_note(JOINED, "t.city, SUM(s.cents) AS c"),
    "rows that the joined table chooses": _by_note(JOINED, "s.note, COUNT(CASE WHEN t.kind = 'M' THEN 1 END) AS c"),
    "values that the joined table chooses": _by_note(
        JOINED, "s.note, SUM(CASE WHEN t.kind = 'M' THEN s.cents ELSE 0 END) AS c"),
    "rows that are counted by a condition": _by_note(JOINED, "s.note, COUNT_IF(t.kind = 'M') AS c"),
    "a value of both": _by_note(JOINED, "s.note, SUM(s.store_id * t.rent) AS c"),
    "a value with a default of what is joined": _by_note(JOINED, "s.note, SUM(COALESCE(s.cents, t.rent)) AS c"),
    "sums that are joined one to one": _by_note(
        "ods.stores t JOIN (SELECT store_id, SUM(cents) AS c FROM ods.sales GROUP BY 1) d ON d.store_id = t.store_id",
        "t.kind, SUM(d.c) AS c"),
    "a table with itself by its key": _by_note(
        "ods.sales s JOIN ods.sales b ON s.id = b.id", "s.note, SUM(b.cents) AS c"),
    "rows of what is joined": (f"SELECT s.note, l.what FROM {LOGGED}",),
    "elements of an array": ("SELECT note, tag FROM ods.sales LATERAL VIEW explode(tags) x AS tag",),
    "distinct rows of a join": (f"SELECT DISTINCT s.note FROM {LOGGED}",),
    "a semi-join": _by_note("ods.sales s LEFT SEMI JOIN ods.log l ON l.store_id = s.store_id"),
    "without any": _by_note(
        "ods.sales s WHERE NOT EXISTS (SELECT 1 FROM ods.log l WHERE l.store_id = s.store_id)"),
    "distinct values of repeated rows": _by_note(LOGGED, "l.what, COUNT(DISTINCT s.id) AS c"),
    "the largest of repeated rows": _by_note(LOGGED, "l.what, MAX(s.cents) AS c"),
    "an outer join": _by_note("ods.sales s RIGHT JOIN ods.stores t ON s.store_id = t.store_id",
                              "t.city, SUM(s.cents) AS c"),
    "parts that exclude each other": _over(
        "SELECT note, cents FROM ods.sales WHERE store_id = 1 UNION ALL SELECT note, cents FROM ods.sales "
        "WHERE store_id = 2"),
    "parts below and above": _over(
        "SELECT note, cents FROM ods.sales WHERE cents < 5 UNION ALL SELECT note, cents FROM ods.sales "
        "WHERE cents >= 5"),
    "two columns below each other": _over(
        "SELECT note, cents FROM ods.sales UNION ALL SELECT note, -cents FROM ods.sales"),
    "parts that the sum tells apart": (
        ("SELECT k, SUM(c) AS c FROM (SELECT 'a' AS k, cents AS c FROM ods.sales UNION ALL SELECT 'b', cents FROM "
        "ods.sales) d GROUP BY k"), "k"),
    "distinct rows with their key": _over("SELECT DISTINCT id, note, cents FROM ods.sales"),
    "a moving average of averages": (
        ("SELECT d, AVG(a) OVER (ORDER BY d ROWS 6 PRECEDING) AS m FROM (SELECT CAST(at AS DATE) AS d, AVG(cents) AS a "
        "FROM ods.sales GROUP BY 1) x"), "d"),
    "the best average": _over("SELECT note, store_id, AVG(cents) AS cents FROM ods.sales GROUP BY 1, 2",
                              "note, MAX(cents) AS c"),
    "an average of counts": _over("SELECT note, store_id, COUNT(*) AS cents FROM ods.sales GROUP BY 1, 2",
                                  "note, AVG(cents) AS c"),
    "the first of each": (
        ("SELECT note, cents FROM (SELECT note, cents, ROW_NUMBER() OVER (PARTITION BY note ORDER BY at, id) AS r "
        "FROM ods.sales) d WHERE r = 1"), "note"),
    "a pivot": ("SELECT * FROM (SELECT note, store_id, cents FROM ods.sales) PIVOT (SUM(cents) FOR store_id IN (1, 2))",
                "note"),
    "rows of the last day": ("SELECT id, cents FROM ods.sales WHERE at > now() - INTERVAL 1 DAY", "id"),
    "one unit in two columns": (f"SELECT s.id, COALESCE(s.cents, t.rent, 0) AS x FROM {JOINED}", "id"),
    "a unit that was converted": ("SELECT id, cents / 100 + grams AS x FROM ods.sales", "id"),
    "numbers without a unit": (
        "SELECT id, CASE WHEN note = 'x' THEN cents ELSE store_id END AS x FROM ods.sales", "id"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("cases", "codes"),
    [(SEVERAL_TIMES, {"SH703"}), (SOMETHING_ELSE, {"SH705"}), (TWO_UNITS, {"SH704"}), (RIGHT, {""})],
    ids=("several times", "something else", "two units", "right"),
)
def test_figures(cases, codes):
    wrong = {name: said for name, said in _refusals(cases).items() if said.partition(" ")[0] not in codes}
    assert not wrong


def test_a_result_that_changes_with_the_time_says_so():
    query, key = RIGHT["rows of the last day"]
    found = drafted(ActionDraft(name="x", layer="dws", description="d", sql=query, primary_key=(key,)), CATALOG)
    [note] = found.notes
    assert note.startswith("the result changes as time goes on")


def test_the_key_of_rows_with_looked_up_columns_is_known():
    query = f"SELECT s.id, t.city FROM {JOINED}"
    draft = ActionDraft(name="x", layer="dws", description="d", sql=query, primary_key=("id",))
    assert drafted(draft, CATALOG).is_key_known
