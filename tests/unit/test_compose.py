"""`docker-compose.yml` keeps the specification and our rules; that it starts is not seen here: there is no engine."""

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import ValidationError, validate

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docker-compose.yml").read_text()
FILE = yaml.safe_load(TEXT)
SCHEMA = json.loads((ROOT / "tests" / "fixtures" / "compose-spec.json").read_text())  # of compose-go 2.16.2
ONCE = {"airflow-migrate", "lake-bucket", "polaris-bootstrap", "cold-catalog"}
VARIABLE = re.compile(r"\$\{([A-Z_]+)(:[-?])?")


def test_it_keeps_the_specification():
    validate(FILE, SCHEMA)


def test_the_schema_refuses_what_is_wrong():
    with pytest.raises(ValidationError):
        validate({**FILE, "services": {"a": {"imag": "x"}}}, SCHEMA)


@pytest.mark.parametrize("name", FILE["services"])
def test_each_service_is_pinned_bounded_and_looked_after(name):
    service = FILE["services"][name]
    image, _, tag = service["image"].rpartition(":")
    assert image
    assert re.match(r"v?\d+\.\d+", tag), "an image of a version"
    assert service["deploy"]["resources"]["limits"].keys() == {"cpus", "memory"}
    assert service["logging"]["options"]["max-size"]
    assert ("healthcheck" in service) != (name in ONCE)
    assert service["restart"] == ("no" if name in ONCE else "unless-stopped")
    for needed, how in service.get("depends_on", {}).items():
        assert how["condition"] == ("service_completed_successfully" if needed in ONCE else "service_healthy")


def test_no_secret_has_a_default_and_each_is_explained():
    example = (ROOT / ".env.example").read_text()
    needed = set()
    for name, how in VARIABLE.findall(TEXT):
        if name != "AIRFLOW_PORT":
            assert how == ":?", name
            needed.add(name)
    assert needed == set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE))
    for name in needed:
        if name.endswith(("PASSWORD", "SECRET", "KEY")):
            assert re.search(f"^{name}=$", example, re.MULTILINE), f"{name} must be given by who runs it"


def test_every_configuration_file_is_there():
    files = [config["file"] for config in FILE["configs"].values() if "file" in config]
    assert files
    assert all((ROOT / file).is_file() for file in files)


@pytest.mark.parametrize("name", ["spark-worker", "polaris", "airflow-scheduler"])
def test_who_reads_files_of_the_lakes_has_the_keys(name):
    assert FILE["services"][name]["environment"].keys() >= {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}


def test_who_reads_hot_tables_logs_in_to_fluss():
    for name in ("spark-worker", "airflow-scheduler"):
        assert "STREAMHOUSE_FLUSS_PASSWORD" in FILE["services"][name]["environment"]
    assert FILE["services"]["airflow-scheduler"]["environment"]["STREAMHOUSE_FLUSS_USER"] == "streamhouse"
    for name in ("fluss-coordinator", "fluss-tablet-0", "fluss-tablet-1"):
        told = FILE["services"][name]["environment"]["FLUSS_PROPERTIES"]
        assert f"INTERNAL://{name}:9124,FLUSS://{name}:9123" in told
        assert "security.protocol.map: INTERNAL:PLAINTEXT,FLUSS:SASL" in told
        assert 'user_streamhouse="${FLUSS_PASSWORD:?set it in .env}";' in told


def test_only_the_loopback_interface_is_opened():
    opened = [port for service in FILE["services"].values() for port in service.get("ports", ())]
    assert opened
    assert all(port.startswith("127.0.0.1:") for port in opened)


def test_every_volume_is_declared_and_used():
    used = {volume.split(":")[0] for service in FILE["services"].values() for volume in service.get("volumes", ())}
    assert {name for name in used if not name.startswith(".")} == set(FILE["volumes"])


def test_the_image_holds_the_locked_versions():
    text = (ROOT / "Dockerfile").read_text()
    make = (ROOT / "Makefile").read_text()
    (uv,) = re.findall(r"^UV_VERSION := (\S+)$", make, re.MULTILINE)
    assert f"uv=={uv}" in text
    assert text.count("uv sync --frozen") == 2


@pytest.mark.parametrize("name", FILE["services"])
def test_no_service_has_or_gains_rights_of_root(name):
    service = FILE["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert set(service.get("cap_add", ())) <= {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"}
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service


def test_only_who_opens_a_port_is_in_a_network_that_leads_outside():
    outside = {name for name, network in FILE["networks"].items() if not (network or {}).get("internal")}
    assert outside == {"outer"}
    for name, service in FILE["services"].items():
        assert ("outer" in service["networks"]) == ("ports" in service), name


def test_each_service_has_a_database_user_of_its_own():
    users = re.findall(r"postgresql\+psycopg://(\w+):\$\{(\w+):\?[^}]*\}@postgres:5432/(\w+)", TEXT)
    users.append((FILE["x-polaris-database"]["QUARKUS_DATASOURCE_USERNAME"], "POLARIS_DB_PASSWORD", "polaris"))
    assert [(user, database) for user, _, database in users] == [
        ("streamhouse", "streamhouse"),
        ("airflow", "airflow"),
        ("polaris", "polaris"),
    ]
    assert len({password for _, password, _ in users} | {"POSTGRES_PASSWORD"}) == 4
    sql = FILE["configs"]["databases"]["content"]
    for user, password, database in users:
        assert f"CREATE ROLE {user} LOGIN PASSWORD '${{{password}:?" in sql
        assert f"CREATE DATABASE {database} OWNER {user};" in sql


def test_spark_knows_who_calls():
    for name in ("spark-master", "spark-worker"):
        service = FILE["services"][name]
        folder = service["environment"]["SPARK_CONF_DIR"]
        assert service["configs"] == [{"source": "spark-defaults", "target": f"{folder}/spark-defaults.conf"}]
    assert "spark.authenticate true" in FILE["configs"]["spark-defaults"]["content"]
