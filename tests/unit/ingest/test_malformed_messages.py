"""Messages of a schema registry that are malformed in thirty ways: each has its reason, and no other row is lost."""

import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.kafka import open_kafka
from streamhouse.ingest.kafka_rows import MessageRows
from streamhouse.ingest.message_formats import LANGUAGES, RegisteredMessages
from streamhouse.ingest.schema_registry import NotRegistered, RegisteredSchema
from tests.malformed import FORMATS, OTHER, SCHEMAS, Message
from tests.registry import framed
from tests.tables import each

NUMBER = 7
CASES = [(form, *case) for form, (cases, _, _) in FORMATS.items() for case in cases(NUMBER)]
MANY = 250
"""So many messages of Avro are read at once (`avro_rows.py`)."""


class Schemas:
    """The schemas that a registry would give."""

    def __init__(self, form):
        other = next(language for name, language in LANGUAGES.items() if name != form)
        self._there = {
            NUMBER: RegisteredSchema(NUMBER, LANGUAGES[form], SCHEMAS[form]),
            OTHER: RegisteredSchema(OTHER, other, ""),
        }

    def schema(self, number):
        if number not in self._there:
            raise NotRegistered(f"no schema {number}")
        return self._there[number]

    def version(self, _subject, number):
        return 3 if number == NUMBER else None


def source(form, columns=None):
    """A source of the format, whose registry is in memory."""
    options = {"servers": "localhost:1", "topic": "orders", "format": form, "registry": "schemas"}
    found = open_kafka({**options, "columns": columns or FORMATS[form][2], "on_bad_rows": "dead_letter"})
    vars(found)["_messages"] = MessageRows(found._options, RegisteredMessages(Schemas(form), form, "orders-value"))
    return found


def parted(form, values):
    return source(form)._parted([Message(number, value) for number, value in enumerate(values)], None)


def test_there_are_thirty_kinds_of_each_format():
    assert min(len(cases(NUMBER)) for cases, _, _ in FORMATS.values()) >= 30


@pytest.mark.parametrize("count", [2, MANY])
@pytest.mark.parametrize("form", FORMATS)
def test_good_messages(form, count):
    found = parted(form, [framed(NUMBER, FORMATS[form][1])] * count)
    assert (found.rows.num_rows, found.bad) == (count, ())


@each(("form", "name", "raw", "reason"), CASES, ids=[f"{case[0]}: {case[1]}" for case in CASES])
def test_malformed(form, name, raw, reason):
    good = framed(NUMBER, FORMATS[form][1])
    for before, after in ((1, 1), (MANY, 3) if form == "avro" else (0, 0)):
        found = parted(form, [*[good] * before, raw, *[good] * after])
        assert [(one.letter.position, one.reason) for one in found.bad] == [(f"orders/3/{before}", reason)], found.bad
        assert (found.bad[0].letter.raw, found.rows.num_rows) == (raw, before + after)
        assert found.bad[0].message
    with pytest.raises(SourceError, match="offset 1 of orders is malformed: "):  # of a flow that stops
        source(form)._rows([Message(0, good), Message(1, raw)], source(form)._columns)
    [letter] = [one.letter for one in found.bad]
    again = source(form).read_again([letter], None)
    assert (again.rows.num_rows, [one.reason for one in again.bad]) == (0, [reason])


@pytest.mark.parametrize("form", ["avro", "protobuf"])
def test_values_that_fit_another_type_are_read_after_the_fix(form):
    cases = {case[0]: case[1] for case in FORMATS[form][0](NUMBER)}
    [bad] = parted(form, [cases["a tinyint too large"]]).bad
    again = source(form, FORMATS[form][2] | {"small": "int"}).read_again([bad.letter], None)
    assert (again.rows["small"].to_pylist(), again.places, again.bad) == ([128], ("orders/3/0",), ())
