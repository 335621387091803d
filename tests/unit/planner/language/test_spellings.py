"""British and American spellings of a word are one word; words that only look like such spellings stay apart."""

from streamhouse.planner.language.tokens import form, stems
from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

SAME = [("harbours", "harbor"), ("colours", "colors"), ("cancelled", "canceled"), ("travelling", "traveling"),
        ("organised", "organize"), ("theatres", "theater"), ("litres", "liters"), ("analysed", "analyze"),
        ("programmes", "program"), ("catalogue", "catalogs"), ("labour", "labor")]  # fmt: skip
APART = [("hour", "hor"), ("four", "for"), ("filled", "filed"), ("tour", "tor"), ("our", "or"), ("rolled", "roled")]
PLAYS = catalog(table("ods.theatres", ["theatre_id"], None, ["theatre_id:i", "colour:s", "neighbourhood:s"]))


def test_both_spellings_are_one_word():
    assert [(one, other) for one, other in SAME if stems(one) != stems(other)] == []
    assert form("harbours") == form("harbor")


def test_other_words_stay_apart():
    assert [(one, other) for one, other in APART if stems(one) == stems(other)] == []


def test_a_wish_may_spell_names_otherwise():
    found = understand("number of theaters per color and neighborhood", PLAYS)
    assert compact(found) == "ods.theatres; by colour, neighbourhood; get count(*)"
