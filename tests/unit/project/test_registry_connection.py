"""Schema registries in streamhouse.yaml."""

import pytest

from streamhouse.errors import DefinitionErrors, FileFormatError, UnknownKeyError
from streamhouse.project.check import check_project
from streamhouse.project.project import Project
from streamhouse.project.settings import load_settings

CANARY = "canary-pass"
URL = "url: 'https://registry:8081/api'"


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (f"{{kind: schema_registy, {URL}}}", "did you mean 'schema_registry'?"),
        (f"{{{URL}}}", "'kind' is missing"),
        (f"{{kind: schema_registry, {URL}, usr: ann}}", "did you mean 'user'?"),
        ("{kind: schema_registry, url: 'registry:8081'}", "'registry:8081' is no url"),
        ("{kind: schema_registry}", "'url' is missing"),
        (f"{{kind: schema_registry, {URL}, user: ann}}", "'user' and 'password' belong together"),
        (f"{{kind: schema_registry, {URL}, token: {CANARY}}}", "'token' is a secret"),
        (f"{{kind: schema_registry, {URL}, user: ann, password: {{environment: '{CANARY}'}}}}", "no name of an"),
        (f"{{kind: schema_registry, url: 'https://ann:{CANARY}@registry'}}", "has a password in it"),
        ("{kind: schema_registry, url: 'http://registry', ca: a.pem}", "begins with https:"),
        ("{kind: postgres, host: db, database: d, user: u, prt: 1}", "did you mean 'port'?"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, place, text):
    (tmp_path / "streamhouse.yaml").write_text(f"connections:\n  schemas: {place}\n")
    with pytest.raises((DefinitionErrors, FileFormatError, UnknownKeyError)) as refused:
        load_settings(tmp_path, {})
    assert text in str(refused.value)
    assert "streamhouse.yaml:2:" in str(refused.value)
    assert CANARY not in str(refused.value)


def test_databases_and_registries_are_told_apart(tmp_path):
    (tmp_path / "streamhouse.yaml").write_text(
        f"connections:\n  schemas: {{kind: schema_registry, {URL}, token: {{file: /run/secrets/token}}}}\n"
        "  shop: {kind: postgres, host: db, database: shop, user: me}\n"
    )
    settings = load_settings(tmp_path, {})
    assert list(settings.databases) == ["shop"]
    assert settings.connections["schemas"].url == "https://registry:8081/api"
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "shop.yaml").write_text(
        "flow: shop\nsources:\n"
        "  orders: {kafka: {servers: 'a:1', topic: t, format: avro, registry: shop, columns: {id: int}}}\n"
        "steps:\n  - {use: ingest_as_is, reads: {rows: orders}, writes: ods.orders}\n"
    )
    errors = [str(error) for error in check_project(Project.at(tmp_path)).errors]
    assert any(
        "flows/shop.yaml:3:" in one and "'shop' is of kind postgres, and not schema_registry" in one for one in errors
    ), errors
