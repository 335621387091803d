"""What is proposed of the meaning of tables, as edits of the files that say it. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from streamhouse.errors import StreamhouseError
from streamhouse.planner.catalog import Catalog, CatalogTable
from streamhouse.planner.describe import proposed
from streamhouse.registry.files import DefinitionFile
from streamhouse.registry.fingerprint import fingerprint
from streamhouse.registry.registry import understood
from streamhouse.registry.yaml_edits import with_added
from streamhouse.sql.header import split_header

if TYPE_CHECKING:
    from streamhouse.registry import Registry

_BEFORE = ("action", "version", "step", "description", "synonyms", "inputs", "params", "output")
_MEANING = ("columns", "measures", "dimensions", "ai")


@dataclass(frozen=True)
class Edited:
    """One file with what is proposed.

    Attributes:
        name: Its path from the project's folder.
        tables: Table → what is added of it.
    """

    name: str
    before: str
    after: str
    tables: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def diff(self) -> str:
        """The edit as `diff -u` shows it."""
        before, after = (text.splitlines(keepends=True) for text in (self.before, self.after))
        return "".join(unified_diff(before, after, fromfile=self.name, tofile=self.name))


def described_files(
    catalog: Catalog, registry: "Registry", tables: Collection[str] = (), *, values: bool = False
) -> list[Edited]:
    """The files of a sound project with all that is proposed of some tables, in the order of names.

    An action that makes one table says what that means; of the others the flow does. A column that is copied from a
    table that is described, too, has its meaning from there.

    Args:
        catalog: Of the project.
        registry: That the catalog follows from, with the texts of its files.
        tables: Names; empty: all.
        values: Whether values of rows are wanted, of tables that let their rows out.
    """
    wanted = {name: catalog.tables[name] for name in tables or catalog.tables}
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for table in wanted.values():
        additions = proposed(catalog, table, values=values)
        columns = {
            name: said
            for name, said in additions.pop("columns", {}).items()
            if (origin := table.column(name).origin) is None or origin[0] not in wanted
        }
        additions = {**({"columns": columns} if columns else {}), **additions}
        if additions:
            found.setdefault(_file(registry, table), {})[table.name] = additions
    edited = (_edited(registry, name, additions) for name, additions in sorted(found.items()))
    return [one for one in edited if one.after != one.before]


def _file(registry: "Registry", table: CatalogTable) -> str:
    action = registry.of_flow(table.flow).action(_use(registry, table))
    is_its_own = all(action.inputs.values()) and len(registry.used_by(action.action)) == 1
    return action.at.file if is_its_own else registry.flow(table.flow).at.file


def _use(registry: "Registry", table: CatalogTable) -> str:
    return next(step.use for step in registry.flow(table.flow).steps if step.writes == table.name)


def _edited(registry: "Registry", name: str, additions: Mapping[str, dict[str, Any]]) -> Edited:
    before = registry.files[name].text()
    try:
        after = _with(before, name, additions)
    except StreamhouseError:  # its layout is one that we do not know
        return Edited(name, before, before)
    return (
        Edited(name, before, after, additions) if _says_the_same(name, before, after) else Edited(name, before, before)
    )


def _with(before: str, name: str, additions: Mapping[str, dict[str, Any]]) -> str:
    if not name.endswith(".sql"):
        return _lines(with_added(before, {"tables": dict(additions)}, file=name))
    header = split_header(before, name).yaml
    (added,) = additions.values()
    return before.replace(header, _lines(with_added(header, added, (*_BEFORE, *_MEANING), file=name)), 1)


def _lines(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _says_the_same(name: str, before: str, after: str) -> bool:
    """Whether nothing but meanings differs, and the file can be read: else its layout is one that we do not know."""
    try:
        one, two = (understood(DefinitionFile(name, text.encode())) for text in (before, after))
    except StreamhouseError:
        return False
    first, second = (read if not isinstance(read, tuple) else read[0] for read in (one, two))
    return fingerprint(first, meaning=False) == fingerprint(second, meaning=False)
