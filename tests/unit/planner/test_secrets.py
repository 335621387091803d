"""Every secret of a project is left out of texts, whatever the place is called that it is read from."""

import pytest

from streamhouse.model.flow import Flow, Source, Step
from streamhouse.planner.secrets import Secrets
from streamhouse.project.settings import Settings

POSTGRES = {"kind": "postgres", "host": "db", "database": "shop", "user": "me"}
REGISTRY = {"kind": "schema_registry", "url": "https://registry"}


def secrets(connection, root, environment=(), flows=()):
    settings = Settings.model_validate({"connections": {"shop": connection}})
    return Secrets.of(settings, root, flows, dict(environment))


@pytest.mark.parametrize(
    "connection",
    [
        {**POSTGRES, "password": {"file": "private/shop.txt"}},
        {**POSTGRES, "password": {"environment": "SHOP"}},
        {**POSTGRES, "kind": "mariadb", "database": None, "password": {"environment": "SHOP"}},
        {**REGISTRY, "token": {"environment": "SHOP"}},
        {**REGISTRY, "token": {"file": "private/shop.txt"}},
        {**REGISTRY, "user": "me", "password": {"file": "private/shop.txt"}},
    ],
)
def test_the_secrets_of_connections(connection, tmp_path):
    (tmp_path / "private").mkdir()
    (tmp_path / "private/shop.txt").write_text("horse-battery\n")
    found = secrets(connection, tmp_path, {"SHOP": "horse-battery"})
    assert found.without("it is Horse-Battery.") == "it is ***."
    assert found.without_in({"horse-battery": ["a horse-battery", 1, None]}) == {"***": ["a ***", 1, None]}


def test_a_short_secret_is_left_out_where_it_is_a_word(tmp_path):
    found = secrets({**POSTGRES, "password": {"environment": "SHOP"}}, tmp_path, {"SHOP": "hello"})
    assert found.without("say hello, not hellos") == "say ***, not hellos"


def test_a_secret_that_is_nowhere_hides_nothing(tmp_path):
    for place in ({"environment": "SHOP"}, {"file": "shop.txt"}):
        assert secrets({**POSTGRES, "password": place}, tmp_path).without("horse") == "horse"


def test_variables_that_sources_name_as_secrets(tmp_path):
    options = {"topic": "t", "secrets": {"sasl.password": "KAFKA_ONE", "ssl.key.pem": "KAFKA_TWO"}, "format": "KIND"}
    flow = Flow(flow="f", sources={"s": Source(name="s", kind="kafka", options=options)},
                steps=(Step(use="a", writes="ods.t"),))  # fmt: skip
    environment = {"KAFKA_ONE": "horse-battery", "KAFKA_TWO": "first-line\nsecond-line", "KIND": "avro-things"}
    found = Secrets.of(Settings(), tmp_path, [flow], environment)
    assert found.without("horse-battery second-line first-line avro-things") == "*** *** *** avro-things"


def test_a_secret_that_is_a_url_hides_its_password_as_well(tmp_path):
    found = secrets(
        {**POSTGRES, "password": {"environment": "SHOP"}},
        tmp_path,
        {"SHOP": "jdbc:postgresql://me:a%20long@db/s?password=another"},
    )
    assert found.without("a%20long, a long, another") == "***, ***, ***"


def test_passwords_in_urls_of_settings(tmp_path):
    settings = Settings.model_validate(
        {"spark": {"conf": {"spark.x.url": "https://me:horse-one@h"}}, "models": {"url": "http://me:horse-two@localhost/v1"},
         "cold": {"catalog": "jdbc:postgresql://me:horse-three@db/c", "warehouse": "s3://w"}}
    )  # fmt: skip
    assert Secrets.of(settings, tmp_path, (), {}).without("horse-one horse-two horse-three") == "*** *** ***"
