import duckdb
import pytest

from benchmarks.method.workload import BOARD, PACKAGE, STORES, expected_board, new_project, write_events, wrong_stores

EVENTS = 20_000
SUMS = f"""
    SELECT customer_id % {STORES} AS store_id, COUNT(*) AS lines,
      SUM(quantity * CAST(ROUND(price * 100) AS BIGINT))::BIGINT AS cents, MAX(event_id) AS last_event_id
    FROM read_parquet(?) WHERE quantity > 0 GROUP BY ALL
"""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    root = new_project(tmp_path_factory.mktemp("project") / "of")
    write_events(root, "events", EVENTS)
    with duckdb.connect() as connection:
        rows = connection.execute(SUMS, [str(root / PACKAGE / "events.parquet")]).fetchall()
    return {name: [row[n] for row in rows] for n, name in enumerate(BOARD)}


def test_the_expected_sums_are_those_of_the_file(board):
    assert expected_board(EVENTS) == (sum(board["lines"]), sum(board["cents"]))
    assert wrong_stores(board) == []


@pytest.mark.parametrize("column", ["lines", "cents", "last_event_id"])
def test_a_wrong_sum_is_found(board, column):
    # The event after a store's last one may be one of no quantity, so go back by more than one of its events.
    off = {"lines": 1, "cents": -1, "last_event_id": -10_000}[column]
    changed = board | {column: [board[column][0] + off, *board[column][1:]]}
    assert wrong_stores(changed) == [board["store_id"][0]]
