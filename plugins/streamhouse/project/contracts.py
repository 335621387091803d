"""Compares what flows declare of topics with what a schema registry has, before they run with it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from streamhouse.errors import (
    EnvironmentProblem,
    MissingPackageError,
    SourceError,
    StoreUnavailableError,
    StreamhouseError,
)
from streamhouse.ingest.wrong_option import at_the_option
from streamhouse.model.flow import Source
from streamhouse.model.notice import Notice
from streamhouse.model.plan import FlowPlan
from streamhouse.project.check import load_registry
from streamhouse.project.project import Project
from streamhouse.registry.files import DefinitionFiles

_CONTRACT = ("topic", "format", "registry", "subject", "message", "columns", "key")
"""The options that say what comes: a flow that runs with the same ones follows the registry by its policies."""


@dataclass(frozen=True)
class Contracts:
    """What the comparison found.

    Attributes:
        errors: What a schema lacks, or never has as its type.
        notices: Sources whose registry cannot be asked now; epochs compare again.
    """

    errors: tuple[StreamhouseError, ...] = ()
    notices: tuple[Notice, ...] = ()


def check_contracts(project: Project, plans: Mapping[str, FlowPlan], files: DefinitionFiles | None = None) -> Contracts:
    """Compare the sources that have a schema registry, and with which their flow does not run yet.

    Args:
        project: Its settings have the registries.
        plans: Flow → its plan by the files.
        files: Those of the project, where they are read already.
    """
    new = list(_new_sources(project, plans))
    if not new:
        return Contracts()
    registry = load_registry(project, files)
    errors: list[StreamhouseError] = []
    notices: list[Notice] = []
    for flow, name in new:
        source = registry.flow(flow).sources[name]
        try:
            with at_the_option(source):
                _compare(project, source)
        except (StoreUnavailableError, EnvironmentProblem, MissingPackageError) as error:
            text = f"the columns of '{name}' are not compared with their schema: {error.message}"
            notices.append(Notice(text, source.at, error.hint))
        except SourceError as error:
            error.at = error.at or source.at
            errors.append(error)
    return Contracts(tuple(errors), tuple(notices))


def _new_sources(project: Project, plans: Mapping[str, FlowPlan]) -> Iterator[tuple[str, str]]:
    wanted = {
        (flow, source.name): [source.options.get(name) for name in _CONTRACT]
        for flow, plan in plans.items()
        for source in plan.sources
        if source.kind == "kafka" and source.options.get("registry") is not None
    }
    if not wanted:
        return
    state = project.existing_state()
    running: dict[tuple[str, str], list[object]] = {}
    if state is not None:
        with state:
            for flow, (_, plan) in state.plans({}).items():  # a plan that cannot be read has no source that is known
                for source in plan.sources:
                    running[flow, source.name] = [source.options.get(name) for name in _CONTRACT]
    yield from (place for place, contract in wanted.items() if running.get(place) != contract)


def _compare(project: Project, source: Source) -> None:
    from streamhouse.ingest.kafka_options import KafkaOptions
    from streamhouse.ingest.options import check_options
    from streamhouse.ingest.registered_columns import contracts_of, newest_schema, refuse_misfits
    from streamhouse.ingest.schema_registry import registry_client

    if find_spec("fastavro") is None:
        raise MissingPackageError("fastavro is not installed", hint="pip install 'streamhouse[engine]'")
    options = check_options(KafkaOptions, "kafka", source.options, source.at)
    assert options.registry is not None, "the caller looked"
    client = registry_client(options.registry, project.root, source.at)
    for contract in contracts_of(options):
        found = newest_schema(client, contract, source.at)
        refuse_misfits(found, contract.columns, contract.message, source.at)
