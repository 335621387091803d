"""Every code means one error, has its class in `streamhouse.errors`, and is explained."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from streamhouse import errors
from streamhouse.errors.explanation import explanation, explanations, nearest_code, page
from tests.parsed import nodes_of
from tests.tables import each
from tests.unit.errors.templates import Templates

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "plugins" / "streamhouse"
FIXTURES = ROOT / "tests" / "fixtures"
NO_MESSAGE = "No message has this code."

CLASSES = [e for e in vars(errors).values() if isinstance(e, type) and "code" in vars(e)]
EXPLAINED = explanations()


@pytest.fixture(scope="module")
def templates():
    return Templates.of(PACKAGE)


def test_a_code_means_one_error():
    assert len(CLASSES) > 50
    assert {code: n for code, n in Counter(e.code for e in CLASSES).items() if n > 1} == {}


def codes_in(text):
    """Classes of a module that set `code` to an error code."""
    for node in nodes_of(text):
        for line in node.body if isinstance(node, ast.ClassDef) else ():
            value = getattr(line, "value", None)
            if isinstance(value, ast.Constant) and ast.unparse(line).startswith("code"):
                yield node.name, value.value


def test_every_class_with_a_code_of_its_own_is_in_the_package_of_errors():
    found = {
        name: path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for name, _ in codes_in(path.read_text())
    }
    assert {name: path for name, path in found.items() if not path.startswith("errors/")} == {}
    assert sorted(found) == sorted(one.__name__ for one in CLASSES)
    assert set(errors.__all__) >= set(found)


def test_every_code_is_explained():
    assert sorted(EXPLAINED) == sorted(one.code for one in CLASSES)


@pytest.mark.parametrize("section", ["Cause", "Example", "Remedy"])
def test_a_code_without_a_section_is_refused(section):
    text = "One.\n\nCause:\n    A.\n\nExample:\n    SH999 b\n\nRemedy:\n    C.\n".replace(f"{section}:", "Other:")
    with pytest.raises(ValueError, match=section.lower()):
        # It has no base: a further error class would be on the page, for as long as it is in memory.
        explanation(type("OddError", (), {"__doc__": text, "code": "SH999"}))


@each("one", EXPLAINED.values(), ids=list(EXPLAINED))
def test_an_example_is_a_message_that_the_code_prints(one, templates):
    """Its first line matches a message of the class in our source, its hint one that goes with such a message."""
    if one.example.startswith(NO_MESSAGE):
        assert not templates.messages(one.name)
        return
    assert templates.accept(one.name, one.code, one.example), templates.messages(one.name)


def test_an_example_that_nothing_prints_is_refused(templates):
    real = EXPLAINED["SH404"].example
    assert templates.accept("RowsLostError", "SH404", real)
    assert not templates.accept("RowsLostError", "SH404", real.replace("are in no tier", "are nowhere"))
    assert not templates.accept("RowsLostError", "SH404", real.replace("raise the table's log TTL", "wait"))
    assert not templates.accept("RowsLostError", "SH405", real)


def golden_messages():
    return "\n".join(path.read_text() for path in FIXTURES.rglob("*.txt"))


def test_an_example_is_a_golden_message_where_one_exists():
    golden = golden_messages()
    compiled = [code for code in EXPLAINED if code[2] in "12" and f"{code} " in golden]
    assert len(compiled) > 15
    assert [code for code in compiled if EXPLAINED[code].example not in golden] == []


def test_the_page_is_what_the_classes_say(golden):
    golden(page(), ROOT / "docs" / "errors.md")


@pytest.mark.parametrize(
    ("code", "nearest"),
    [("SH44", "SH404"), ("SH4004", "SH404"), ("SH506", "SH507"), ("SH219", "SH218"), ("SHELL", None)],
)
def test_the_nearest_code(code, nearest):
    assert nearest_code(code, list(EXPLAINED)) == nearest
