"""The manual's site: its nav names each page of docs/ once, and no page that is not there."""

import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PICTURE = re.compile(r"!\[[^\]]+\]\(([^)]+\.svg)\)")


def pages_of(nav):
    if isinstance(nav, str):
        return [nav]
    return [page for entry in (nav.values() if isinstance(nav, dict) else nav) for page in pages_of(entry)]


def test_the_nav_names_each_page_once():
    nav = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]
    assert sorted(pages_of(nav)) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_links_stay_inside_the_site():
    """A link out of docs/ works on GitHub and is dead in the site."""
    links = {(path, link) for path in DOCS.rglob("*.md") for link in re.findall(r"\]\(([^)#\s]+)", path.read_text())}
    assert [
        f"{path.relative_to(ROOT)}: {link}"
        for path, link in sorted(links)
        if "://" not in link and not (path.parent / link).resolve().is_relative_to(DOCS)
    ] == []


def test_each_concept_has_a_picture_for_light_and_dark():
    for page in (DOCS / "concepts").glob("*.md"):
        pictures = PICTURE.findall(page.read_text())
        assert pictures, page.name
        for picture in pictures:
            text = (page.parent / picture).read_text()
            assert ElementTree.fromstring(text).find("{http://www.w3.org/2000/svg}title") is not None, picture
            assert "prefers-color-scheme: dark" in text, picture
