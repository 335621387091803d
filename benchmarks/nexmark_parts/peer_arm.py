"""A peer's arm: the queries of `peers`, in a stock or a tuned session."""

import sys
from pathlib import Path

from method.peer import session
from method.serve import private_stdout, serve
from nexmark_parts import peers

from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Table
from streamhouse.stores.fluss.store import FlussStore


def main() -> None:
    """Serve the project, the Fluss and the kind of session that the command line names."""
    replies = private_stdout()
    root, fluss, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    spark, store = session(root, name), FlussStore(fluss)

    def run(query: int, way: str, plan: str, streams: str, target: str, checkpoint: str) -> None:
        """Drain ODS by a query's peer; plans and the table as JSON."""
        ours, fills = FlowPlan.model_validate_json(plan), FlowPlan.model_validate_json(streams)
        writes = Table.model_validate_json(target)
        place = peers.Place(spark, root, store, fluss, ours, fills, writes, Path(checkpoint))
        peers.run(peers.PEERS[query], place, way)

    serve({"run": run}, replies)
    spark.stop()


if __name__ == "__main__":
    main()
