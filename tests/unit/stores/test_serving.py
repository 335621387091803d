"""Links to the tables that serve: replaced as a whole, repaired, and never to a table that is not there."""

import pytest

from streamhouse.errors import StoreError
from streamhouse.model.types import Tier
from streamhouse.stores.serving import ServingLinks

LAYER = {Tier.WARM: "dwd.db", Tier.COLD: "dwd"}


@pytest.fixture(params=list(LAYER))
def links(request, tmp_path):
    made = ServingLinks(request.param, tmp_path / "lake")
    for name in ("sales", "sales__v2"):
        folder = made.lake / LAYER[made.tier] / name
        folder.mkdir(parents=True)
        (folder / "rows").write_text(name)
    return made


def shown(links):
    return (links.folder / LAYER[links.tier] / "sales" / "rows").read_text()


def test_the_version_that_serves_is_shown(links):
    assert links.folder == links.lake.parent / "lake.serving"
    for stored in ("dwd.sales", "dwd.sales", "dwd.sales__v2", "dwd.sales"):
        assert links.show(stored)
        assert shown(links) == stored.partition(".")[2]
    assert [path.name for path in (links.folder / LAYER[links.tier]).iterdir()] == ["sales"]


def test_a_table_that_is_not_there_does_not_take_the_place_of_one_that_is(links):
    links.show("dwd.sales")
    assert not links.show("dwd.sales__v3")
    assert shown(links) == "sales"


def test_what_is_dropped_is_hidden_unless_another_version_serves(links):
    links.show("dwd.sales__v2")
    links.hide("dwd.sales")
    assert shown(links) == "sales__v2"
    links.hide("dwd.sales__v2")
    with pytest.raises(FileNotFoundError):
        shown(links)
    links.hide("dwd.sales__v2")


def test_links_are_right_in_a_project_that_was_moved(links, tmp_path):
    links.show("dwd.sales__v2")
    (tmp_path / "project").mkdir()
    for folder in (links.lake, links.folder):
        folder.rename(tmp_path / "project" / folder.name)
    moved = ServingLinks(links.tier, tmp_path / "project" / "lake")
    assert shown(moved) == "sales__v2"


def test_what_a_kill_left_does_not_hinder(links):
    links.show("dwd.sales")
    (links.folder / LAYER[links.tier] / ".sales.new").symlink_to("nowhere")
    assert links.show("dwd.sales__v2")
    assert shown(links) == "sales__v2"


def test_a_link_that_cannot_be_made_leaves_none_to_the_former_version(links, monkeypatch):
    links.show("dwd.sales")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.symlink_to", full)
    with pytest.raises(StoreError, match="cannot be shown to other engines: No space left"):
        links.show("dwd.sales__v2")
    with pytest.raises(FileNotFoundError):
        shown(links)
