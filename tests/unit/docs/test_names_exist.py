"""Every path, module, command, option and setting that the documents name exists."""

from pathlib import Path

import pytest

from tests.unit.docs.judge import stale
from tests.unit.docs.mentions import documents
from tests.unit.docs.tree import Tree

ROOT = Path(__file__).parents[3]

# (document, name) → why it is right although nothing of ours has the name. An entry that is no longer needed fails.
ALLOWED = {
    **{("ARCHITECTURE.md", f"{tier}.serving/"): "tier and suffix are put together" for tier in ("warm", "cold")},
    ("CHANGELOG.md", ".streamhouse/warm.serving"): "tier and suffix are put together",
    ("CHANGELOG.md", "more: streamhouse explain SH404"): "the end of a message",
    ("CHANGELOG.md", "partial_update: true"): "a setting of an earlier version",
    ("docs/data.md", "min_quantity: 0"): "a parameter of an action",
    ("docs/errors.md", "tools/list"): "a method of the Model Context Protocol",
    ("docs/runner.md", "ReadWriteMany"): "a word of Kubernetes",
    **{
        ("docs/findings.md", name): "a name of another project"
        for name in (
            "RawLocalFileSystem",
            "PartitioningCollection",
            "PythonGatewayServer",
            "bin/spark-submit",
            "PlanWithUnresolvedIdentifier",
            "--conf",
            "force_compression",
            "CloseableIterable",
            "projection_pushdown_enabled",
            "monitor/health",
            "GetHITLDetailResponse",
            "from_arrow",
        )
    },
    **{
        ("docs/ui.md", path): "an address of the page's JSON, below api/"
        for path in (
            "flows/NAME",
            "flows/NAME/graph",
            "flows/NAME/metrics",
            "flows/NAME/revisions/N",
            "tables/NAME",
            "lineage/NAME",
            "proposals/ID",
            "proposals/ID/graph",
        )
    },
    ("docs/runner.md", "Additional properties are not allowed ('rules' was unexpected)"): "a role of Kubernetes",
}


@pytest.fixture(scope="module")
def tree():
    return Tree(ROOT)


@pytest.fixture(scope="module")
def found(tree):
    return [one for path in documents(ROOT) for one in stale(path.read_text(), path, tree)]


def document_of(one):
    return one.place.rpartition(":")[0]


def test_every_name_exists(found):
    assert [str(one) for one in found if (document_of(one), one.name) not in ALLOWED] == []


def test_the_allowed_names_are_still_there(found):
    assert set(ALLOWED) - {(document_of(one), one.name) for one in found} == set()


GOOD = [
    "`streamhouse run orders --once`",
    "`streamhouse --project examples/nexmark run nexmark --once`",
    "`streamhouse action list|show`",
    "`runner start FLOW`",
    "`--dry-run`",
    "`make demo`",
    "`plugins/streamhouse/errors/`",
    "`compiler/diff`",
    "`benchmarks/`",
    "`python benchmarks/one_row.py --quick`",
    "`streamhouse.jobs.ask`",
    "`keep_snapshots: 1d`",
    "`STREAMHOUSE_WARM`",
    "`SH404`",
    "[tiers](docs/tiers.md#upkeep)",
    "```yaml\nauto_apply: safe\n```",
    "```yaml\nschema_change: {on: {drop_column: freeze}}\n```",
    "```\nstreamhouse upkeep --full    every file\n```",
]
PLANTED = [
    ("`streamhouse rune orders`", "no command rune"),
    ("`streamhouse services sideways`", "no command sideways"),
    ("`streamhouse action list|shout`", "no command shout"),
    ("`streamhouse run orders --twice`", "no option --twice"),
    ("`streamhouse --project examples/nexmark run nexmark --twice`", "no option --twice"),
    ("`runner start --twice`", "no option --twice"),
    ("```\nstreamhouse upkeep --fully    every file\n```", "no option --fully"),
    ("`--dry-runs`", "no option of any command"),
    ("`make dinner`", "no target of the Makefile"),
    ("`plugins/streamhouse/errors.py`", "no file or folder"),
    ("`compiler/diffs`", "no file or folder"),
    ("`python benchmarks/no_row.py`", "no program"),
    ("`python benchmarks/one_row.py --slow`", "no option --slow of benchmarks/one_row.py"),
    ("`streamhouse.jobs.asks`", "no module"),
    ("```python\nfrom streamhouse.jobs.ask import asks\n```", "no such name in the package"),
    ("`keep_snapshot: 1d`", "no key keep_snapshot of a flow, an action or the settings"),
    ("`keep_snapshotz`", "nothing in the source has this name"),
    ("`FlowPlanner2Odd`", "nothing in the source has this name"),
    ("`STREAMHOUSE_LUKEWARM`", "no variable that the source reads"),
    ("`.streamhouse/cellar`", "nothing in the source has this name"),
    ("`SH999`", "no error code"),
    ("[tiers](docs/tears.md)", "no file or folder"),
    ("[tiers](docs/tiers.md#no-such-heading)", "no heading of that name"),
    ("```yaml\nauto_aply: safe\n```", "no key of a flow, an action or the settings"),
    ("```yaml\nauto_apply: sometimes\n```", "no key of a flow, an action or the settings"),
    ("```yaml\nsources: {orders: {cdc: {paths: a}}}\n```", "no key of a flow, an action or the settings"),
]


@pytest.mark.parametrize("text", GOOD)
def test_a_name_that_exists_is_accepted(text, tree):
    assert [str(one) for one in stale(text, ROOT / "README.md", tree)] == []


@pytest.mark.parametrize(("text", "why"), PLANTED)
def test_a_stale_name_is_found(text, why, tree):
    assert [one.why for one in stale(text, ROOT / "README.md", tree)] == [why]
