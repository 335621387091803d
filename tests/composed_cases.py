"""Requests with SQL written by hand that must give the same rows, over tables with NULLs, ties and gaps."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from streamhouse.model.meaning import MeasureMeaning
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey
from streamhouse.planner.request import (
    AnyOf,
    Arithmetic,
    Banded,
    Between,
    Block,
    ColumnRef,
    Condition,
    Cut,
    Derived,
    Dimension,
    During,
    Grain,
    Join,
    Measure,
    Number,
    Pick,
    Ranking,
    Related,
    Request,
    Scalar,
    Sessions,
)

SALES = {
    "id": "bigint", "store_id": "bigint", "cents": "bigint", "price": "decimal(10,2)", "weight": "double",
    "note": "string", "sold_at": "timestamp", "paid_at": "timestamp_ntz", "due": "date",
}  # fmt: skip
STORES = {"store_id": "bigint", "city": "string", "opened": "date"}
VISITS = {"who": "string", "at": "timestamp"}


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text)


ROWS: dict[str, list[tuple[Any, ...]]] = {
    "sales": [
        (1, 1, 500, Decimal("5.00"), 1.5, "x", "2024-01-01 10:00:00", "2024-01-01 10:30:00", "2024-01-03"),
        (2, 1, 700, Decimal("7.25"), None, "y", "2024-01-01 23:59:59", None, "2024-01-03"),
        (3, 1, 500, Decimal("5.00"), 0.25, None, "2024-01-02 00:00:00", "2024-01-05 00:00:00", None),
        (4, 1, None, None, 2.0, "x", "2024-01-04 12:00:00", "2024-01-04 11:00:00", "2024-01-04"),
        (5, 2, 900, Decimal("9.99"), 3.0, "x", "2024-01-01 10:00:00", "2024-01-02 10:00:00", "2024-01-02"),
        (6, 2, 900, Decimal("9.99"), 3.0, "it's", "2024-01-01 10:00:00", "2024-01-02 10:00:00", "2024-01-02"),
        (7, 2, 100, Decimal("20.50"), 0.0, "y", "2024-02-29 08:00:00", None, "2024-03-31"),
        (8, 3, 0, Decimal("10.00"), 1.0, None, "2024-03-31 08:00:00", None, "2024-04-01"),
        (9, None, 50, Decimal("0.50"), 1.0, "z", "2024-01-07 08:00:00", None, "2024-04-01"),
        (10, 9, 70, Decimal("0.70"), 1.0, "z", None, None, None),
        (11, 1, 300, Decimal("3.00"), 1.0, "y", "2024-01-05 12:00:00", None, None),
        (12, 1, 1, Decimal("0.01"), 1.0, "X", "2024-12-31 23:00:00", None, None),
        (13, 1, 1, Decimal("0.01"), 1.0, "x", "2025-01-01 01:00:00", None, None),
    ],
    "stores": [(1, "Oslo", "2020-01-01"), (2, "Rome", None), (3, None, "2021-05-05"), (4, "Oslo", "2022-02-02")],
    "visits": [
        ("a", "2024-01-01 10:00:00"), ("a", "2024-01-01 10:30:00"), ("a", "2024-01-01 11:00:01"),
        ("a", "2024-01-01 11:00:01"), ("b", "2024-01-01 10:00:00"), (None, "2024-01-01 10:00:00"),
        (None, "2024-01-01 10:05:00"), ("b", None),
    ],
}  # fmt: skip


def rows_of(table: str) -> list[tuple[Any, ...]]:
    """Rows of a table as Spark takes them."""
    types = {"sales": SALES, "stores": STORES, "visits": VISITS}[table]
    return [tuple(_typed(value, kind) for value, kind in zip(row, types.values(), strict=True)) for row in ROWS[table]]


def _typed(value: Any, kind: str) -> Any:
    if isinstance(value, str) and kind in ("timestamp", "timestamp_ntz"):
        return _at(value)
    return date.fromisoformat(value) if isinstance(value, str) and kind == "date" else value


def _table(name: str, types: dict[str, str], **more: Any) -> CatalogTable:
    units = {"cents": "cents", "weight": "kg"}
    columns = tuple(CatalogColumn(n, kind, unit=units.get(n)) for n, kind in types.items())
    return CatalogTable(name=name, flow="shop", action="made", columns=columns, **more)


REVENUE = {
    "revenue": MeasureMeaning(sql="SUM(cents) / 100", unit="USD"),
    "per_sale": MeasureMeaning(sql="SUM(cents) / COUNT(*)", unit="cents"),
    "noted": MeasureMeaning(sql="COUNT(*) FILTER (WHERE note IS NOT NULL)"),
}
CATALOG = Catalog(
    tables={
        "dwd.sales": _table("dwd.sales", SALES, primary_key=("id",), event_time="sold_at", measures=REVENUE),
        "dwd.stores": _table("dwd.stores", STORES, primary_key=("store_id",)),
        "dwd.visits": _table("dwd.visits", VISITS, event_time="at"),
    },
    keys=(ForeignKey("dwd.sales", ("store_id",), "dwd.stores", ("store_id",)),),
)


def col(name: str, role: str = "") -> ColumnRef:
    return ColumnRef(column=name, role=role)


def dim(name: str, of: Scalar | None = None) -> Dimension:
    return Dimension(name=name, of=of if of is not None else col(name))


def cut(name: str, grain: str, of: str = "sold_at") -> Dimension:
    return Dimension(name=name, of=Cut(of=col(of), grain=Grain(grain)))


def where(left: Scalar | str, operator: str, *values: Any, **more: Any) -> Condition:
    return Condition(left=left, operator=operator, values=values, **more)


def measure(name: str, function: str = "count", of: Scalar | None = None, **more: Any) -> Measure:
    return Measure(name=name, function=function, of=of, **more)


def asked(base: str | None = "dwd.sales", ranking: Ranking | None = None, **block: Any) -> Request:
    return Request(wish="", block=Block(base=base, **block), ranking=ranking)


@dataclass(frozen=True)
class Case:
    """A Request, and SQL that gives what it asks for over views `sales`, `stores` and `visits`."""

    name: str
    request: Request
    sql: str


STORE, DAY = dim("store_id"), cut("day", "day")
N, REV = measure("n"), measure("revenue", named="revenue")
JOIN = Join(table="dwd.stores", role="shop", on={"store_id": "store_id"})
CITY = dim("city", col("city", "shop"))
DAILY = "SELECT store_id, date_trunc('DAY', sold_at) AS day, SUM(cents) / 100 AS revenue FROM sales GROUP BY 1, 2"

CASES = [
    Case("count", asked(measures=(N,)), "SELECT COUNT(*) AS n FROM sales"),
    Case(
        "group with NULL",
        asked(dimensions=(STORE,), measures=(N, REV)),
        "SELECT store_id, COUNT(*) AS n, SUM(cents) / 100 AS revenue FROM sales GROUP BY store_id",
    ),
    Case(
        "cuts are begins, the week's on Monday",
        asked(dimensions=(cut("week", "week"), cut("quarter", "quarter"), cut("dow", "day_of_week")), measures=(N,)),
        """SELECT date_trunc('WEEK', sold_at) AS week, date_trunc('QUARTER', sold_at) AS quarter,
           extract(DAYOFWEEK_ISO FROM sold_at) AS dow, COUNT(*) AS n FROM sales GROUP BY 1, 2, 3""",
    ),
    Case(
        "cut of a date, of a time without zone, and parts of the calendar",
        asked(
            dimensions=(
                cut("m", "month", "due"),
                cut("h", "hour", "paid_at"),
                cut("hod", "hour_of_day"),
                cut("dom", "day_of_month"),
                cut("moy", "month_of_year"),
                cut("y", "year"),
            ),
            measures=(N,),
        ),
        """SELECT CAST(trunc(due, 'MM') AS TIMESTAMP) AS m, CAST(date_trunc('HOUR', paid_at) AS TIMESTAMP) AS h,
           hour(sold_at) AS hod, day(sold_at) AS dom, month(sold_at) AS moy, date_trunc('YEAR', sold_at) AS y,
           COUNT(*) AS n FROM sales GROUP BY 1, 2, 3, 4, 5, 6""",
    ),
    Case(
        "combinations",
        asked(dimensions=(STORE, dim("note"))),
        "SELECT DISTINCT store_id, note FROM sales",
    ),
    Case(
        "aggregates",
        asked(
            dimensions=(STORE,),
            measures=(
                measure("s", "sum", col("price")),
                measure("a", "avg", col("price")),
                measure("ai", "avg", col("cents")),
                measure("lo", "min", col("sold_at")),
                measure("hi", "max", col("price")),
                measure("d", "count distinct", col("note")),
                measure("c", "count", col("cents")),
                measure("med", "median", col("price")),
                measure("sd", "stddev", col("weight")),
                measure("p", "percentile", col("cents"), fraction=Decimal("0.9")),
            ),
        ),
        """SELECT store_id, SUM(price) AS s, AVG(CAST(price AS DOUBLE)) AS a, AVG(cents) AS ai, MIN(sold_at) AS lo,
           MAX(price) AS hi, COUNT(DISTINCT note) AS d, COUNT(cents) AS c,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(price AS DOUBLE)) AS med, stddev_samp(weight) AS sd,
           percentile_cont(0.9) WITHIN GROUP (ORDER BY cents) AS p FROM sales GROUP BY store_id""",
    ),
    Case(
        "filtered aggregates and named measures with filters",
        asked(
            dimensions=(STORE,),
            measures=(
                measure("x", where=(where(col("note"), "=", "x"),)),
                measure("r", named="revenue", where=(where(col("note"), "in", "x", "y"),)),
                measure("p", named="per_sale", where=(where(col("cents"), ">", 100),)),
                measure("k", named="noted", where=(where(col("cents"), ">=", 500),)),
            ),
        ),
        """SELECT store_id, COUNT(CASE WHEN note = 'x' THEN 1 END) AS x,
           SUM(CASE WHEN note IN ('x', 'y') THEN cents END) / 100 AS r,
           try_divide(SUM(CASE WHEN cents > 100 THEN cents END), COUNT(CASE WHEN cents > 100 THEN 1 END)) AS p,
           COUNT(CASE WHEN note IS NOT NULL AND cents >= 500 THEN 1 END) AS k FROM sales GROUP BY store_id""",
    ),
    Case(
        "first and last, ties by key",
        asked(
            dimensions=(STORE,),
            measures=(
                measure("f", "first", col("note"), by=col("sold_at")),
                measure("l", "last", col("note"), by=col("sold_at")),
            ),
        ),
        """SELECT s.store_id,
             (SELECT note FROM (SELECT note, store_id, ROW_NUMBER() OVER (PARTITION BY store_id ORDER BY sold_at, id)
              AS k FROM sales WHERE sold_at IS NOT NULL) AS a WHERE k = 1 AND a.store_id <=> s.store_id) AS f,
             (SELECT note FROM (SELECT note, store_id, ROW_NUMBER() OVER (PARTITION BY store_id ORDER BY sold_at DESC,
              id DESC) AS k FROM sales WHERE sold_at IS NOT NULL) AS b WHERE k = 1 AND b.store_id <=> s.store_id) AS l
           FROM (SELECT DISTINCT store_id FROM sales) AS s""",
    ),
    Case(
        "text and number filters leave out NULL",
        asked(
            filters=(where(col("note"), "not in", "x", "y"), where(col("price"), "<", Decimal("20.5"))),
            columns=(dim("id"),),
        ),
        "SELECT id FROM sales WHERE note <> 'x' AND note <> 'y' AND price < 20.50",
    ),
    Case(
        "texts are compared as they are, quotes and all",
        asked(
            columns=(dim("id"),),
            filters=(
                AnyOf(
                    of=(
                        where(col("note"), "=", "it's"),
                        where(col("note"), "=", "X"),
                        where(col("note"), "contains", "'"),
                    )
                ),
            ),
        ),
        "SELECT id FROM sales WHERE note = 'it\\'s' OR note = 'X' OR note LIKE '%\\'%'",
    ),
    Case(
        "begins, ends, is null",
        asked(
            columns=(dim("id"),),
            filters=(
                AnyOf(
                    of=(
                        where(col("note"), "starts", "it"),
                        where(col("note"), "ends", "z"),
                        where(col("note"), "is null"),
                    )
                ),
                where(col("id"), "is not null"),
            ),
        ),
        "SELECT id FROM sales WHERE (note LIKE 'it%' OR note LIKE '%z' OR note IS NULL)",
    ),
    Case(
        "half open time range on timestamp, date and time without zone",
        asked(
            columns=(dim("id"),),
            filters=(
                AnyOf(
                    of=(
                        During(of=col("sold_at"), since=_at("2024-01-01T23:59:59"), until=_at("2024-01-07T08:00:00")),
                        During(of=col("due"), since=_at("2024-04-01"), until=_at("2024-04-02")),
                        During(of=col("paid_at"), since=_at("2024-01-05"), until=_at("2024-01-06")),
                    )
                ),
            ),
        ),
        """SELECT id FROM sales WHERE (sold_at >= '2024-01-01 23:59:59' AND sold_at < '2024-01-07 08:00:00')
           OR (due >= '2024-04-01' AND due < '2024-04-02') OR (paid_at >= '2024-01-05' AND paid_at < '2024-01-06')""",
    ),
    Case(
        "a date against a time of day",
        asked(columns=(dim("id"),), filters=(During(of=col("due"), since=_at("2024-01-03T12:00:00")),)),
        "SELECT id FROM sales WHERE due >= DATE'2024-01-04'",
    ),
    Case(
        "spans between times of three kinds",
        asked(
            columns=(
                dim("id"),
                dim("h", Between(first=col("sold_at"), last=col("paid_at"), unit="hour")),
                dim("d", Between(first=col("sold_at"), last=col("due"), unit="day")),
            )
        ),
        """SELECT id, (unix_timestamp(CAST(paid_at AS TIMESTAMP)) - unix_timestamp(sold_at)) / 3600 AS h,
           DATEDIFF(due, CAST(sold_at AS DATE)) / 1 AS d FROM sales""",
    ),
    Case(
        "arithmetic, a quotient by zero is NULL",
        asked(
            columns=(
                dim("id"),
                dim("q", Arithmetic(left=col("cents"), operator="/", right=col("weight"))),
                dim(
                    "t",
                    Arithmetic(
                        left=Arithmetic(left=col("price"), operator="-", right=Number(value=1)),
                        operator="*",
                        right=Number(value=Decimal("0.5")),
                    ),
                ),
            )
        ),
        """SELECT id, CASE WHEN weight <> 0 THEN cents / weight END AS q, (price - 1) * 0.5 AS t
           FROM sales""",
    ),
    Case(
        "bands",
        asked(dimensions=(dim("band", Banded(of=col("price"), bounds=(5, Decimal("10.0"), 20))),), measures=(N,)),
        """SELECT CASE WHEN price IS NULL THEN NULL WHEN price < 5 THEN 'under 5' WHEN price < 10 THEN '5 to 10'
           WHEN price < 20 THEN '10 to 20' ELSE '20 and over' END AS band, COUNT(*) AS n FROM sales GROUP BY 1""",
    ),
    Case(
        "join keeps rows without a partner",
        asked(joins=(JOIN,), dimensions=(CITY,), measures=(REV, N)),
        """SELECT city, SUM(cents) / 100 AS revenue, COUNT(*) AS n FROM sales LEFT JOIN stores USING (store_id)
           GROUP BY city""",
    ),
    Case(
        "inner join, filter on the partner",
        asked(
            joins=(JOIN.model_copy(update={"optional": False}),),
            dimensions=(CITY,),
            measures=(N,),
            filters=(where(col("city", "shop"), "<>", "Rome"),),
        ),
        "SELECT city, COUNT(*) AS n FROM sales JOIN stores USING (store_id) WHERE city <> 'Rome' GROUP BY city",
    ),
    Case(
        "without any, NULLs on both sides",
        asked("dwd.stores", filters=(Related(table="dwd.sales", exists=False, on={"store_id": "store_id"}),)),
        "SELECT * FROM stores WHERE store_id NOT IN (SELECT store_id FROM sales WHERE store_id IS NOT NULL)",
    ),
    Case(
        "without any that fit",
        asked(
            "dwd.stores",
            columns=(STORE,),
            filters=(
                Related(
                    table="dwd.sales",
                    exists=False,
                    on={"store_id": "store_id"},
                    filters=(where(col("note"), "=", "y"),),
                ),
            ),
        ),
        "SELECT store_id FROM stores LEFT ANTI JOIN (SELECT * FROM sales WHERE note = 'y') USING (store_id)",
    ),
    Case(
        "with at least so many",
        asked(
            "dwd.stores",
            columns=(STORE,),
            filters=(
                Related(
                    table="dwd.sales",
                    exists=True,
                    at_least=2,
                    on={"store_id": "store_id"},
                    filters=(where(col("cents"), ">", 100),),
                ),
            ),
        ),
        """SELECT store_id FROM stores WHERE store_id IN
           (SELECT store_id FROM sales WHERE cents > 100 GROUP BY store_id HAVING COUNT(*) >= 2)""",
    ),
    Case(
        "without so many, related to itself",
        asked(
            columns=(dim("id"),),
            filters=(
                Related(table="dwd.sales", exists=False, at_least=2, on={"store_id": "store_id", "sold_at": "sold_at"}),
            ),
        ),
        """SELECT id FROM sales AS a WHERE (SELECT COUNT(*) FROM sales AS b WHERE b.store_id = a.store_id
           AND b.sold_at = a.sold_at) < 2""",
    ),
    Case(
        "last row of each, ties by key",
        asked(
            joins=(JOIN,),
            pick=Pick(per=(col("store_id"),), by=col("sold_at")),
            columns=(STORE, dim("id"), CITY),
            filters=(where(col("note"), "is not null"),),
        ),
        """SELECT store_id, id, city FROM (SELECT store_id, id, city, ROW_NUMBER() OVER (PARTITION BY store_id
           ORDER BY sold_at DESC, id) AS k FROM (SELECT * FROM sales WHERE note IS NOT NULL) LEFT JOIN stores
           USING (store_id)) WHERE k = 1""",
    ),
    Case(
        "numbers of the first row of each",
        asked(
            pick=Pick(per=(col("store_id"),), by=col("sold_at"), last=False),
            dimensions=(dim("note"),),
            measures=(N, measure("s", "sum", col("cents"))),
        ),
        """SELECT note, COUNT(*) AS n, SUM(cents) AS s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY store_id
           ORDER BY sold_at ASC NULLS LAST, id) AS k FROM sales) WHERE k = 1 GROUP BY note""",
    ),
    Case(
        "sessions: more than the gap, ties, no one",
        asked("dwd.visits", sessions=Sessions(per=(col("who"),), time=col("at"), gap="30m"), measures=(N,)),
        """SELECT who, session_start, n FROM VALUES ('a', TIMESTAMP'2024-01-01 10:00:00', 2L),
           ('a', TIMESTAMP'2024-01-01 11:00:01', 2L), ('b', TIMESTAMP'2024-01-01 10:00:00', 1L),
           (NULL, TIMESTAMP'2024-01-01 10:00:00', 2L) AS t(who, session_start, n)""",
    ),
    Case(
        "average of an aggregate",
        Request(
            wish="",
            block=Block(
                inner=Block(base="dwd.sales", dimensions=(STORE, DAY), measures=(N, REV)),
                dimensions=(STORE,),
                measures=(measure("a", "avg", col("revenue")), measure("m", "max", col("n"))),
            ),
        ),
        f"SELECT store_id, AVG(revenue) AS a, MAX(n) AS m FROM (SELECT d.*, (SELECT COUNT(*) FROM sales WHERE "
        f"store_id <=> d.store_id AND date_trunc('DAY', sold_at) <=> d.day) AS n FROM ({DAILY}) AS d) "
        "GROUP BY store_id",
    ),
    Case(
        "inner block, joined and filtered outside",
        Request(
            wish="",
            block=Block(
                inner=Block(base="dwd.sales", dimensions=(STORE,), measures=(N,)),
                joins=(JOIN,),
                dimensions=(CITY,),
                measures=(measure("most", "max", col("n")),),
                filters=(where(col("n"), ">", 1),),
            ),
        ),
        """SELECT city, MAX(n) AS most FROM (SELECT store_id, COUNT(*) AS n FROM sales GROUP BY store_id) LEFT JOIN
           stores USING (store_id) WHERE n > 1 GROUP BY city""",
    ),
    Case(
        "ratio and difference",
        asked(
            dimensions=(STORE,),
            measures=(REV, N, measure("x", where=(where(col("note"), "=", "x"),)), measure("p", "sum", col("price"))),
            derived=(
                Derived(name="share_x", kind="ratio", of="x", to="n", percent=True),
                Derived(name="odd", kind="ratio", of="p", to="x"),
                Derived(name="rest", kind="difference", of="n", to="x"),
            ),
        ),
        """SELECT store_id, revenue, n, x, p, x / n * 100 AS share_x, CAST(p AS DOUBLE) / NULLIF(x, 0) AS odd,
           n - x AS rest FROM (SELECT store_id, SUM(cents) / 100 AS revenue, COUNT(*) AS n,
           SUM(IF(note = 'x', 1, 0)) AS x, SUM(price) AS p FROM sales GROUP BY store_id)""",
    ),
    Case(
        "share of all, of a group, of decimals",
        asked(
            dimensions=(STORE, DAY),
            measures=(REV, measure("p", "sum", col("price"))),
            derived=(
                Derived(name="s", kind="share", of="revenue"),
                Derived(name="sp", kind="share", of="p", per=("store_id",), percent=True),
            ),
        ),
        """SELECT *, revenue / SUM(revenue) OVER () AS s,
           CAST(p AS DOUBLE) / NULLIF(CAST(SUM(p) OVER (PARTITION BY store_id) AS DOUBLE), 0) * 100 AS sp FROM
           (SELECT store_id, date_trunc('DAY', sold_at) AS day, SUM(cents) / 100 AS revenue, SUM(price) AS p FROM sales
           GROUP BY 1, 2)""",
    ),
    Case(
        "change and previous look at the day before, not at the row before",
        asked(
            dimensions=(STORE, DAY),
            measures=(REV,),
            derived=(
                Derived(name="before", kind="previous", of="revenue"),
                Derived(name="rise", kind="change", of="revenue"),
                Derived(name="pct", kind="change", of="revenue", percent=True),
                Derived(name="two", kind="previous", of="revenue", periods=2),
            ),
        ),
        f"""SELECT g.store_id, g.day, g.revenue, p.revenue AS before, g.revenue - p.revenue AS rise,
           (g.revenue - p.revenue) / NULLIF(p.revenue, 0) * 100 AS pct, q.revenue AS two
           FROM ({DAILY}) AS g LEFT JOIN ({DAILY}) AS p ON p.store_id <=> g.store_id AND
           p.day = g.day - INTERVAL '1' DAY LEFT JOIN ({DAILY}) AS q ON q.store_id <=> g.store_id AND
           q.day = g.day - INTERVAL '2' DAY""",
    ),
    Case(
        "months, quarters, years before",
        asked(
            dimensions=(cut("month", "month"),),
            measures=(N,),
            derived=(
                Derived(name="b", kind="previous", of="n"),
                Derived(name="y", kind="previous", of="n", periods=12),
            ),
        ),
        """SELECT m.*, p.n AS b, q.n AS y FROM (SELECT date_trunc('MONTH', sold_at) AS month, COUNT(*) AS n FROM sales
           GROUP BY 1) AS m LEFT JOIN (SELECT date_trunc('MONTH', sold_at) AS month, COUNT(*) AS n FROM sales
           GROUP BY 1) AS p ON p.month = add_months(m.month, -1)
           LEFT JOIN (SELECT date_trunc('MONTH', sold_at) AS month, COUNT(*) AS n FROM sales GROUP BY 1) AS q
           ON q.month = add_months(m.month, -12)""",
    ),
    Case(
        "quarter and hour of day before",
        asked(dimensions=(cut("q", "quarter"),), measures=(N,), derived=(Derived(name="b", kind="previous", of="n"),)),
        """SELECT m.*, p.n AS b FROM (SELECT date_trunc('QUARTER', sold_at) AS q, COUNT(*) AS n FROM sales GROUP BY 1) m
           LEFT JOIN (SELECT date_trunc('QUARTER', sold_at) AS q, COUNT(*) AS n FROM sales GROUP BY 1) AS p
           ON p.q = add_months(m.q, -3)""",
    ),
    Case(
        "a part of the calendar before",
        asked(
            dimensions=(cut("h", "hour_of_day"),), measures=(N,), derived=(Derived(name="b", kind="previous", of="n"),)
        ),
        """SELECT m.*, p.n AS b FROM (SELECT hour(sold_at) AS h, COUNT(*) AS n FROM sales GROUP BY 1) AS m LEFT JOIN
           (SELECT hour(sold_at) AS h, COUNT(*) AS n FROM sales GROUP BY 1) AS p ON p.h = m.h - 1""",
    ),
    Case(
        "days that are dates",
        asked(dimensions=(dim("due"),), measures=(N,), derived=(Derived(name="b", kind="previous", of="n"),)),
        """SELECT m.*, p.n AS b FROM (SELECT due, COUNT(*) AS n FROM sales GROUP BY 1) AS m LEFT JOIN
           (SELECT due, COUNT(*) AS n FROM sales GROUP BY 1) AS p ON p.due = m.due - 1""",
    ),
    Case(
        "running and moving, with gaps",
        asked(
            dimensions=(STORE, DAY),
            measures=(REV,),
            filters=(where(col("sold_at"), "is not null"),),
            derived=(
                Derived(name="run", kind="running", of="revenue"),
                Derived(name="avg3", kind="moving", of="revenue", periods=3),
                Derived(name="sum3", kind="moving", of="revenue", periods=3, fold="sum"),
            ),
        ),
        f"""SELECT g.store_id, g.day, g.revenue, SUM(IF(p.day <= g.day, p.revenue, NULL)) AS run,
           AVG(IF(p.day <= g.day AND p.day > g.day - INTERVAL '3' DAY, p.revenue, NULL)) AS avg3,
           SUM(IF(p.day <= g.day AND p.day > g.day - INTERVAL '3' DAY, p.revenue, NULL)) AS sum3
           FROM ({DAILY}) AS g JOIN ({DAILY}) AS p ON p.store_id <=> g.store_id WHERE g.day IS NOT NULL
           GROUP BY g.store_id, g.day, g.revenue""",
    ),
    Case(
        "rank, above average, having after windows",
        asked(
            dimensions=(STORE,),
            measures=(N,),
            derived=(Derived(name="r", kind="rank", of="n"), Derived(name="more", kind="above_average", of="n")),
            having=(where("n", ">", 1),),
        ),
        """SELECT store_id, n, RANK() OVER (ORDER BY n DESC) AS r, n - (SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM
           sales GROUP BY store_id)) AS more FROM (SELECT store_id, COUNT(*) AS n FROM sales GROUP BY store_id)
           WHERE n > 1""",
    ),
    Case(
        "a derived number of a derived number, condition on it",
        asked(
            dimensions=(STORE,),
            measures=(REV, N),
            derived=(Derived(name="avg", kind="ratio", of="revenue", to="n"), Derived(name="r", kind="rank", of="avg")),
            having=(where("r", "<=", 2),),
        ),
        """SELECT * FROM (SELECT *, RANK() OVER (ORDER BY avg DESC) AS r FROM (SELECT store_id,
           SUM(cents) / 100 AS revenue, COUNT(*) AS n, SUM(cents) / 100 / COUNT(*) AS avg
           FROM sales GROUP BY store_id)) WHERE r <= 2""",
    ),
    Case(
        "having on measures, against each other",
        asked(
            dimensions=(STORE,),
            measures=(N, measure("x", where=(where(col("note"), "=", "x"),))),
            having=(where("n", ">", 1), Condition(left="x", operator="<", other="n")),
        ),
        """SELECT store_id, COUNT(*) AS n, COUNT_IF(note = 'x') AS x FROM sales GROUP BY store_id
           HAVING COUNT(*) > 1 AND COUNT_IF(note = 'x') < COUNT(*)""",
    ),
    Case(
        "top, ties by key",
        asked(dimensions=(dim("note"),), measures=(N,), ranking=Ranking(by="n", count=2)),
        """SELECT note, n FROM (SELECT note, COUNT(*) AS n FROM sales GROUP BY note) ORDER BY n DESC,
           note ASC NULLS FIRST LIMIT 2""",
    ),
    Case(
        "lowest with ties, NULL last",
        asked(
            dimensions=(STORE,),
            measures=(measure("s", "sum", col("cents")),),
            ranking=Ranking(by="s", count=1, descending=False, ties=True),
        ),
        """SELECT store_id, s FROM (SELECT store_id, SUM(cents) AS s FROM sales GROUP BY store_id) WHERE s =
           (SELECT MIN(s) FROM (SELECT SUM(cents) AS s FROM sales GROUP BY store_id))""",
    ),
    Case(
        "top of each group",
        asked(
            dimensions=(cut("month", "month"), STORE), measures=(N,), ranking=Ranking(by="n", count=1, per=("month",))
        ),
        """SELECT month, store_id, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY month ORDER BY n DESC, store_id ASC
           NULLS FIRST) AS k FROM (SELECT date_trunc('MONTH', sold_at) AS month, store_id, COUNT(*) AS n FROM sales
           GROUP BY 1, 2)) WHERE k = 1""",
    ),
    Case(
        "top rows",
        asked(columns=(dim("id"), dim("price")), ranking=Ranking(by="price", count=3)),
        "SELECT id, price FROM sales ORDER BY price DESC, id LIMIT 3",
    ),
    Case(
        "condition on a computed column, several joins",
        asked(
            joins=(JOIN, Join(table="dwd.stores", role="other", left="shop", on={"store_id": "store_id"})),
            columns=(dim("id"), CITY, dim("city2", col("city", "other"))),
            filters=(where(Between(first=col("sold_at"), last=col("paid_at"), unit="minute"), ">=", 30),),
        ),
        """SELECT id, city, city AS city2 FROM sales LEFT JOIN stores USING (store_id)
           WHERE (unix_timestamp(CAST(paid_at AS TIMESTAMP)) - unix_timestamp(sold_at)) >= 1800""",
    ),
]
