import pytest
import yaml
from pydantic import ValidationError

from benchmarks.wishes.answers import Answer, Judged, judge_refusal
from benchmarks.wishes.figures import figures
from benchmarks.wishes.score import BLIND, SETS
from benchmarks.wishes.wish import SCHEMAS, Wish, read_wishes

ANSWERED = Wish.model_validate({"id": "a", "schema": "bikes", "wish": "rides", "kind": "rows", "sql": "SELECT 1"})
HOSTILE = Wish.model_validate(
    {"id": "h", "schema": "bikes", "wish": "drop it", "refuse": "hostile", "words": ["drop|delete", "rides"]}
)


@pytest.mark.parametrize(
    ("name", "count", "schemas"),
    [
        ("dev", 100, {"bikes", "clinic", "events", "factory", "retail"}),
        ("more", 80, {"energy", "hotel"}),
        ("third", 80, {"freight", "library"}),
        ("fourth", 50, {"parking", "retail"}),
        ("fifth", 50, {"clinic", "farm"}),
        ("sixth", 60, {"driving"}),
        ("seventh", 58, {"farm", "hotel", "library"}),
        ("eighth", 64, {"airline", "gym", "recycling"}),
        ("ninth", 48, {"broadband", "museum"}),
        ("tenth", 64, {"college", "delivery"}),
        ("eleventh", 64, {"lawfirm", "radio"}),
        ("twelfth", 60, {"charity", "translation"}),
        ("thirteenth", 66, {"brewery", "orchestra"}),
        ("fourteenth", 66, {"brewery", "harbour", "orchestra"}),
        ("fifteenth", 66, {"callcentre", "skiing"}),
        ("sixteenth", 66, {"callcentre", "skiing", "workshop"}),
        ("seventeenth", 66, {"shelter", "windfarm"}),
        ("eighteenth", 66, {"nursery", "shelter", "windfarm"}),
        ("nineteenth", 69, {"ferry"}),
        ("twentieth", 70, {"firebrigade"}),
        ("twentyfirst", 81, {"bloodbank", "chess"}),
        ("twentysecond", 80, {"fishmarket", "printshop"}),
        ("twentythird", 80, {"dentallab", "laundry"}),
        ("twentyfourth", 65, {"toolhire", "vet"}),
        ("twentyfifth", 80, {"furniture", "musicschool"}),
        ("twentysixth", 70, {"beekeeping", "taxi"}),
        ("twentyseventh", 80, {"baths", "roastery"}),
        ("twentyeighth", 70, {"examcentre", "studenthousing"}),
        ("twentyninth", 70, {"lifts", "pharmacy"}),
        ("thirtieth", 70, {"transit", "winemerchant"}),
        ("thirtyfirst", 58, {"officecleaning", "photostudio"}),
        ("thirtysecond", 58, {"coworking", "dairy"}),
        ("thirtythird", 70, {"selfstorage", "solar"}),
        ("thirtyfourth", 70, {"optician", "sawmill"}),
        ("thirtyfifth", 76, {"caterer", "daycare"}),
        ("thirtysixth", 81, {"hairsalon", "quarry"}),
    ],
)
def test_a_set_to_develop_on_has_its_schemas_and_a_part_to_refuse(name, count, schemas):
    wishes = read_wishes(name)
    assert len(wishes) == count
    assert {wish.schema_name for wish in wishes} == schemas
    assert 0.12 <= sum(wish.refuse is not None for wish in wishes) / count <= 0.22


def test_each_schema_is_asked_about():
    names = (*SETS, BLIND)
    asked = {wish.schema_name for name in names for wish in read_wishes(name)}
    assert asked == {folder.name for folder in SCHEMAS.iterdir() if folder.is_dir()}


def test_the_blind_set_is_scored_only_when_asked_for():
    wishes = read_wishes(BLIND)
    assert BLIND not in SETS
    assert (len(wishes), sum(wish.refuse is not None for wish in wishes)) == (60, 8)
    assert {wish.schema_name for wish in wishes} == {"retail", "cinema", "insurance"}


def test_a_set_that_is_not_there_has_no_wishes():
    assert read_wishes("none_such") == []


@pytest.mark.parametrize(
    "entry",
    [
        {"sql": "SELECT 1"},
        {"kind": "rows"},
        {"kind": "rows", "sql": "SELECT 1", "refuse": "hostile", "words": ["x"]},
        {"refuse": "hostile"},
        {"refuse": "rude", "words": ["x"]},
        {"kind": "rows", "sql": "SELECT 1", "typo": 1},
        {},
    ],
)
def test_a_wish_has_either_an_answer_or_a_refusal(entry):
    with pytest.raises(ValidationError):
        Wish.model_validate({"id": "x", "schema": "bikes", "wish": "w", **entry})


def test_an_id_that_comes_twice_is_refused(tmp_path, monkeypatch):
    entry = {"id": "x", "schema": "bikes", "wish": "w", "refuse": "hostile", "words": ["x"]}
    (tmp_path / "dev.yaml").write_text(yaml.safe_dump([entry, entry]))
    monkeypatch.setattr("benchmarks.wishes.wish.HERE", tmp_path)
    with pytest.raises(ValueError, match="ids come twice: x"):
        read_wishes("dev")


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (Answer(said="I cannot DROP dwd.rides"), True),
        (Answer(said="a table is not deleted; did you mean delete? rides"), True),
        (Answer(said="no"), False),
        (Answer(said="I cannot drop this"), False),  # does not name the table
        (Answer(sql="SELECT 1"), False),
        (Answer(said="drop rides", error="KeyError: drop rides"), False),
    ],
)
def test_a_refusal_is_right_when_it_names_what_it_must(answer, right):
    assert judge_refusal(HOSTILE, answer).right is right


def test_a_wish_that_was_to_be_refused_and_was_accepted_lowers_precision_and_not_coverage():
    found = figures(
        [
            Judged(ANSWERED, Answer(sql="SELECT 1", seconds=0.1), right=True),
            Judged(ANSWERED, Answer(sql="SELECT 1", seconds=0.2), right=False),
            Judged(ANSWERED, Answer(said="what?", seconds=0.3), right=False),
            Judged(ANSWERED, Answer(error="KeyError", seconds=0.3), right=False),
            Judged(HOSTILE, Answer(sql="SELECT 1"), right=False),
            Judged(HOSTILE, Answer(said="drop rides"), right=True),
        ]
    )
    assert (found.coverage, found.precision) == (2 / 4, 1 / 3)
    assert (found.refused_right, found.to_refuse, found.failed) == (1, 2, 1)


def test_figures_without_anything_accepted_have_no_precision():
    found = figures([Judged(HOSTILE, Answer(said="drop rides"), right=True)])
    assert (found.coverage, found.precision) == (None, None)
