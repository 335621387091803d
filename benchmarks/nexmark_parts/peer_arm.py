"""A peer's arm: the queries of `peers`, in a stock or a tuned session."""

import sys
from pathlib import Path

from method.peer import session
from method.serve import private_stdout, serve
from nexmark_parts import peers

from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.stores.fluss.store import FlussStore

_NO_DATA_BATCHES = "spark.sql.streaming.noDataMicroBatches.enabled"


def main() -> None:
    """Serve the project, the Fluss and the kind of session that the command line names."""
    replies = private_stdout()
    root, fluss, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    spark, store = session(root, name), FlussStore(fluss)
    as_set_up = spark.conf.get(_NO_DATA_BATCHES)

    def run(query: int, way: str, plan: str, streams: str, target: str, checkpoint: str) -> None:
        """Drain ODS by a query's peer; plans and the table as JSON."""
        peer, parsed = peers.PEERS[query], FlowPlan.model_validate_json(plan)
        # A watermark rises after a batch: what one batch of all rows holds comes out with the next, empty one.
        at_end = not peer.whole and way == peers.AT_ONCE
        spark.conf.set(_NO_DATA_BATCHES, "true" if at_end else as_set_up)
        fills, writes = FlowPlan.model_validate_json(streams), Table.model_validate_json(target)
        peers.run(peer, peers.Place(spark, root, store, fluss, parsed, fills, writes, Path(checkpoint)), way)

    serve({"run": run}, replies)
    spark.stop()


if __name__ == "__main__":
    main()
