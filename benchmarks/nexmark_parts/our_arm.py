"""Our arm: flows as `streamhouse run --once` carries them."""

import sys
from pathlib import Path

from method.serve import private_stdout, serve

from streamhouse.jobs.run import Meter, carry
from streamhouse.model.plan import FlowPlan
from streamhouse.project.project import Project
from streamhouse.runtime.open import opened


def main() -> None:
    """Serve the project that the command line names."""
    replies = private_stdout()
    with opened(Project.at(Path(sys.argv[1]))) as open_:

        def run(plan: str) -> None:
            """Carry the flow of a plan (JSON) until what waits is in every layer."""
            parsed = FlowPlan.model_validate_json(plan)
            carry(open_, parsed, Meter(parsed, lambda _: None, once=True), once=True)

        serve({"run": run}, replies)


if __name__ == "__main__":
    main()
