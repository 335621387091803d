"""The glossary is short, sorted and a sentence for each term."""

import re
from pathlib import Path

ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (Path(__file__).parents[3] / "docs" / "glossary.md").read_text().partition("## ")[0].splitlines()
    if line.startswith("| ")
][1:]


def test_at_most_sixty_terms():
    assert 40 < len(ROWS) <= 60


def test_terms_are_unique_and_sorted():
    terms = [row[0].lower() for row in ROWS]
    assert terms == sorted(set(terms))


def test_each_term_has_one_sentence_and_a_place():
    for term, meaning, place in ROWS:
        assert re.fullmatch(r"[A-Z].*\.", meaning), term
        assert ". " not in meaning, term
        assert len(meaning.split()) <= 24, term
        assert place, term
