"""Shows other engines which version of each table serves, where a lake is a folder.

That it cannot be shown stops no flow: it is logged, once.
"""

import logging
from collections.abc import Iterable
from pathlib import Path

from streamhouse.errors import StoreError
from streamhouse.model.place import is_local
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.stores.serving import ServingLinks

_log = logging.getLogger(__name__)
_logged_errors: set[str] = set()


def serving(project: Project, tier: Tier) -> ServingLinks | None:
    """The links to what serves in a tier; None: it is no lake in a folder."""
    if tier is Tier.HOT or (tier is Tier.COLD and project.settings.cold.catalog is not None):
        return None
    lake = project.warm if tier is Tier.WARM else project.cold
    return ServingLinks(tier, Path(lake)) if is_local(lake) else None


def show_written(project: Project, tables: Iterable[Table]) -> None:
    """Show the tables of a running plan in the lakes that flows write themselves.

    Called again it repairs what a kill left. A copy of a table is shown by the process that filled it (`show_copy`).
    """
    for table in tables:
        show_copy(project, table, table.tiers.target)


def show_copy(project: Project, table: Table, tier: Tier) -> None:
    """Show the copy of a table that was just filled up to where the table ends."""
    links = serving(project, tier)
    if links is None:
        return
    try:
        links.show(table.name)
    except StoreError as error:
        if str(error) not in _logged_errors:
            _logged_errors.add(str(error))
            _log.warning("%s", error)


def hide(project: Project, table: Table) -> None:
    """Show a table no more that is about to be dropped."""
    for tier in table.tiers.present:
        if (links := serving(project, tier)) is not None:
            links.hide(table.name)
