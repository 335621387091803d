"""`flow schema` and `action schema`: what an editor is given describes this project's own files."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from streamhouse.cli.main import main
from streamhouse.sql.header import split_header

ROOT = Path(__file__).parents[3]


def printed(capsys, *arguments):
    assert main(arguments) == 0
    return json.loads(capsys.readouterr().out)


def test_flows_fit_the_printed_schema(capsys):
    schema = printed(capsys, "flow", "schema")
    for file in sorted((ROOT / "flows").glob("*.yaml")):
        jsonschema.validate(yaml.safe_load(file.read_text()), schema)
    with pytest.raises(jsonschema.ValidationError, match="stepps"):
        jsonschema.validate({"flow": "a", "stepps": []}, schema)


def test_actions_fit_the_printed_schema(capsys):
    schema = printed(capsys, "action", "schema")
    for file in sorted((ROOT / "actions").rglob("*.sql")):
        jsonschema.validate(yaml.safe_load(split_header(file.read_text(), file.name).yaml), schema)
    with pytest.raises(jsonschema.ValidationError, match="stepp"):
        jsonschema.validate({"action": "a", "stepp": "clean"}, schema)
