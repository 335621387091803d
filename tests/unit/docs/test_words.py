"""What people read is in words of today: documents, help, messages, docstrings, comments, the page."""

from pathlib import Path

import pytest

from tests.unit.docs.mentions import documents
from tests.unit.docs.words import archaic, helps, leaving, page, remarks, texts, unnamed

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "plugins" / "streamhouse"
MOST_LEFT = 247  # may only go down
VOCABULARY = {  # literals that nobody reads as our words
    "planner/language/passed_over.py",  # what people type
    "planner/language/phrasing.py",
    "planner/language/turns_of_requests.py",
    "planner/language/words.py",
    "spark/worker_error.py",  # the name of a group in a pattern
}


def text_of(path):
    text = path.read_text()
    return text.partition("## Instead of other words")[0] if path.name == "glossary.md" else text


def with_archaic_words(texts):
    return {name: found for name, text in texts if (found := archaic(text))}


@pytest.fixture(scope="module")
def in_documents():
    return with_archaic_words((path.relative_to(ROOT).as_posix(), text_of(path)) for path in documents(ROOT))


@pytest.fixture(scope="module")
def in_texts():
    return with_archaic_words(texts(PACKAGE))


@pytest.fixture(scope="module")
def in_remarks():
    return with_archaic_words(remarks(PACKAGE))


def test_documents(in_documents):
    assert in_documents == {}


def test_the_manual_names_who_does_what():
    pages = sorted((ROOT / "docs").rglob("*.md"))
    assert len(pages) > 50
    assert {path.name: found for path in pages if (found := unnamed(text_of(path)))} == {}


def test_help():
    found = dict(helps())
    assert len(found) > 50
    assert with_archaic_words(found.items()) == {}


def test_texts_in_the_source(in_texts):
    assert {name: words for name, words in in_texts.items() if name not in VOCABULARY} == {}


def test_docstrings_and_comments(in_remarks):
    assert in_remarks == {}


def test_words_that_are_no_longer_written_become_fewer():
    left = sum(leaving(path.read_text()) for path in PACKAGE.rglob("*.py"))
    assert left <= MOST_LEFT, "write 'no one', 'no process', 'is in' … instead, and lower MOST_LEFT"


def test_the_page():
    assert with_archaic_words(page(PACKAGE / "ui" / "static")) == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Tables are built anew, and whoever asks is told.", ["anew", "told", "whoever"]),
        ("Taken as it stands.", ["as it stands"]),
        ("It stands\nstill.", []),
        ("A reader stands still.", ["stands still"]),
        ("`anew` is a name here.", []),
        ("```\nstreamhouse run    and all anew\n```", ["anew"]),
        ("A newer table is shown; tellers withheld it.", []),
    ],
)
def test_what_is_archaic(text, found):
    assert archaic(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Nobody reads what\nsomebody wrote.", ["nobody", "somebody"]),
        ('It reads "tours that nobody leads" and `nobody`.', []),
        ('After "one" nobody asks; "two" is last.', ["nobody"]),
    ],
)
def test_what_names_no_one(text, found):
    assert unnamed(text) == found


def test_texts_are_found_and_docstrings_are_not(tmp_path):
    (tmp_path / "a.py").write_text(
        '"""Told."""\n_HINT = "ask anew"\n\ndef f(x):\n    """It was held."""\n'
        '    raise OddError(f"{x} befell {x}", hint="likewise so " + x["held"])\n'
    )
    assert with_archaic_words(texts(tmp_path)) == {"a.py": ["anew", "befell", "likewise"]}


def test_docstrings_and_comments_are_found_and_texts_are_not(tmp_path):
    (tmp_path / "a.py").write_text('"""Told."""\n_HINT = "ask anew"  # befell\n_NAME = "# whence"\n')
    assert with_archaic_words(remarks(tmp_path)) == {"a.py": ["befell", "told"]}


def test_texts_of_the_page_are_found(tmp_path):
    (tmp_path / "js").mkdir()
    (tmp_path / "js" / "a.js").write_text(
        'const held = { name: "anew", of: html`<p>It was <b>told</b> ${held} aside.</p>` };'
    )
    assert with_archaic_words(page(tmp_path)) == {"a.js": ["anew", "told"]}
