"""Requests over the shop of `shop_project`: what compiles, what folds from its aggregate, and what does not."""

from streamhouse.planner.request import Cut, Derived, Dimension, During, Grain, Join, Ranking, Related, Request
from tests.composed_cases import asked, col, cut, dim, measure, where

STORES = Join(table="ods.stores", role="shop", on={"store_id": "store_id"})
CITY = dim("city", col("city", "shop"))
STORE = dim("store_id")
REVENUE = measure("revenue", named="revenue")
SOUND: dict[str, Request] = {
    "aggregate": asked(dimensions=(dim("note"), cut("hour", "hour")), measures=(REVENUE, measure("n"))),
    "join": asked(joins=(STORES,), dimensions=(CITY,), measures=(measure("kinds", "count distinct", col("note")),)),
    "one row": asked(measures=(measure("kinds", "count distinct", col("note")),)),
    "filtered rows": asked(filters=(where(col("cents"), ">", 500), where(col("note"), "in", "x", "y"))),
    "columns without the key": asked(columns=(dim("note"),), filters=(where(col("cents"), ">", 500),)),
    "without any": asked("ods.stores", filters=(
        Related(table="dwd.sales", exists=False, on={"store_id": "store_id"}),)),
    "ranking": asked(dimensions=(dim("note"),), measures=(REVENUE,), ranking=Ranking(by="revenue", count=3)),
    "share": asked(dimensions=(dim("note"),), measures=(REVENUE,),
                   derived=(Derived(name="part", kind="share", of="revenue"),)),
    "change": asked(dimensions=(cut("h", "hour"),), measures=(REVENUE,),
                    derived=(Derived(name="rise", kind="change", of="revenue", percent=True),)),
    "rows that are only appended": asked("ods.clicks", filters=(where(col("who"), "=", "it's \"me\": #1"),)),
    "best of rows without a key": asked("ods.clicks", columns=(dim("who"),), ranking=Ranking(by="who", count=2)),
    "last days": asked(dimensions=(STORE,), measures=(measure("n"),), filters=(During(of=col("sold_at"), within=7),)),
}  # fmt: skip


FOLDS: dict[str, Request] = {
    "coarser": asked(dimensions=(cut("month", "month"),),
                     measures=(REVENUE, measure("n"), measure("m", "max", col("cents")))),
    "over a join": asked(joins=(STORES,), dimensions=(CITY,), measures=(REVENUE,)),
    "filter on a group": asked(dimensions=(cut("d", "day"),), measures=(measure("n"),),
                               filters=(where(col("store_id"), "=", 1),)),
    "range of whole days": asked(dimensions=(STORE,), measures=(measure("n"),), filters=(
        During(of=col("sold_at"), since="2024-01-01T00:00:00", until="2024-02-01T00:00:00"),)),
    "day of the week": asked(dimensions=(cut("w", "day_of_week"),), measures=(measure("n"),)),
    "ranking": asked(dimensions=(STORE,), measures=(REVENUE,), ranking=Ranking(by="revenue", count=2)),
}  # fmt: skip
DOES_NOT_FOLD: dict[str, Request] = {
    "finer": asked(dimensions=(cut("h", "hour"),), measures=(measure("n"),)),
    "another column": asked(dimensions=(dim("note"),), measures=(measure("n"),)),
    "distinct": asked(dimensions=(STORE,), measures=(measure("n", "count distinct", col("note")),)),
    "average of what may be NULL": asked(dimensions=(STORE,), measures=(measure("a", "avg", col("cents")),)),
    "least, of which there is the most": asked(dimensions=(STORE,), measures=(measure("a", "min", col("cents")),)),
    "filter on rows": asked(dimensions=(STORE,), measures=(measure("n"),), filters=(where(col("note"), "=", "x"),)),
    "filter in a measure": asked(dimensions=(STORE,), measures=(measure("n", where=(where(col("note"), "=", "x"),)),)),
    "range within a day": asked(dimensions=(STORE,), measures=(measure("n"),), filters=(
        During(of=col("sold_at"), since="2024-01-01T12:00:00"),)),
    "week to month": asked(dimensions=(Dimension(name="x", of=Cut(of=col("sold_at"), grain=Grain.MINUTE)),),
                           measures=(measure("n"),)),
}  # fmt: skip
