"""What a door may tell of a project: what a hidden table handed on stays back, what a told one has stays."""

import pytest

from streamhouse.model.action import Action
from streamhouse.model.flow import Flow, Read, Step
from streamhouse.model.meaning import DimensionMeaning, MeasureMeaning, Sharing
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey
from streamhouse.planner.sharing import Names, shared_catalog

HIDDEN = Sharing(schema=False)
ROWS = Sharing(rows=True)


def table(name, *columns, **more):
    return CatalogTable(name, "f", more.pop("action", "make"), columns, **more)


def catalog(*tables, **more):
    return Catalog({one.name: one for one in tables}, **more)


TOP = table(
    "ods.people",
    CatalogColumn("person_no", "bigint", description="Number of a person."),
    CatalogColumn("city", "string", values={"Oslo": ("Oslo",)}),
    sharing=ROWS,
)
SECRET = table(
    "dwd.wages",
    CatalogColumn("person_no", "bigint", description="Number of a person.", origin=("ods.people", "person_no")),
    CatalogColumn("city", "string", values={"Oslo": ("Oslo",)}, origin=("ods.people", "city")),
    CatalogColumn("grade", "string", description="By the union.", synonyms=("band",), unit="steps",
                  values={"A": ("A", "poor")}, references=("ods.people", "person_no")),
    primary_key=("person_no",), upstream=("ods.people",), sharing=HIDDEN, action="pay",
    measures={"gross_pay": MeasureMeaning(sql="COUNT(*)")},
)  # fmt: skip
BELOW = table(
    "dws.bands",
    CatalogColumn("person_no", "bigint", description="Number of a person.", origin=("dwd.wages", "person_no")),
    CatalogColumn("city", "string", values={"Oslo": ("Oslo",)}, origin=("dwd.wages", "city")),
    CatalogColumn("level", "string", description="By the union.", synonyms=("band",), unit="steps",
                  values={"A": ("A", "poor")}, references=("ods.people", "person_no"), origin=("dwd.wages", "grade")),
    CatalogColumn("computed", "string", values={"A": ("A",), "none": ("none",)}, open_values=False),
    description="From dwd.wages by pay.", synonyms=("gross_pay",), upstream=("dwd.wages",), sharing=ROWS,
    measures={
        "n": MeasureMeaning(sql="COUNT(gross_pay)"),
        "m": MeasureMeaning(sql="COUNT(*)", description="as dwd.wages has it"),
    },
    dimensions={"who": DimensionMeaning(column="person_no", description="see gross_pay")},
)  # fmt: skip
FURTHER = table(
    "ads.top",
    CatalogColumn("level", "string", description="By the union.", values={"A": ("A",)}, origin=("dws.bands", "level")),
    upstream=("dws.bands",),
    sharing=ROWS,
)
ALL = catalog(TOP, SECRET, BELOW, FURTHER)


def test_what_a_hidden_table_handed_on_stays_back():
    level = shared_catalog(ALL).tables["dws.bands"].column("level")
    assert level == CatalogColumn("level", "string")
    assert shared_catalog(ALL).tables["ads.top"].column("level").description == "", "two tables below, too"
    assert shared_catalog(ALL).tables["ads.top"].column("level").values == {}


def test_what_a_told_table_has_stays_although_it_came_through_a_hidden_one():
    below = shared_catalog(ALL).tables["dws.bands"]
    assert below.column("person_no").description == "Number of a person."
    assert below.column("city").values == {"Oslo": ("Oslo",)}
    assert below.column("city").origin is None


def test_values_that_an_expression_took_from_hidden_rows_stay_back():
    computed = shared_catalog(ALL).tables["dws.bands"].column("computed")
    assert computed.values == {"none": ("none",)}
    assert computed.open_values


def test_texts_of_other_tables_do_not_name_it():
    below = shared_catalog(ALL).tables["dws.bands"]
    assert below.description == "From (withheld) by (withheld)."
    assert below.synonyms == ("(withheld)",)
    assert below.measures.keys() == {"m"}, "SQL with a hole in it is no SQL"
    assert below.measures["m"].description == "as (withheld) has it"
    assert below.dimensions["who"].description == "see (withheld)"
    assert below.upstream == ()


def test_keys_that_only_a_hidden_table_shows_stay_back():
    keys = (ForeignKey("dws.bands", ("level",), "ods.people", ("person_no",), declared=True),)
    assert shared_catalog(Catalog(ALL.tables, keys)).keys == ()


def test_a_catalog_without_hidden_tables_is_told_but_for_values_of_rows():
    plain = catalog(TOP, table("ods.shut", CatalogColumn("city", "string", values={"Oslo": ("Oslo",)})))
    shared = shared_catalog(plain)
    assert shared.tables["ods.people"] == TOP
    assert shared.tables["ods.shut"].column("city").values == {}


def test_a_column_whose_origin_is_gone_or_turns_in_a_circle():
    one = table(
        "dwd.a",
        CatalogColumn("x", "string", origin=("dwd.b", "x")),
        CatalogColumn("y", "string", origin=("dwd.gone", "y")),
    )
    other = table("dwd.b", CatalogColumn("x", "string", origin=("dwd.a", "x")), sharing=HIDDEN)
    assert shared_catalog(catalog(one, other)).tables.keys() == {"dwd.a"}


def test_actions_go_with_the_tables_that_they_make_or_read():
    actions = {name: Action(action=name, step="clean", inputs={}) for name in ("make", "pay", "second", "free")}
    actions["shy"] = Action(action="shy", step="clean", inputs={}, ai={"schema": "denied"})
    reads = Step(use="second@1", reads={"rows": Read(table="dwd.wages")}, writes="dws.bands")
    told = shared_catalog(catalog(TOP, SECRET, actions=actions), [Flow(flow="f", steps=(reads,))]).actions
    assert told.keys() == {"make", "free"}


def test_names_that_others_have_too_are_no_secret():
    names = Names.of(ALL)
    assert names.tables == {"dwd.wages"}
    assert names.sure == {"wages", "pay", "gross_pay"}
    assert names.words == {"grade"}
    assert Names.of(ALL, ["Wages", "pay"]).sure == {"gross_pay"}
    assert Names.of(catalog(TOP)) == Names()


@pytest.mark.parametrize(
    ("text", "prose", "message"),
    [
        ("a good grade of Oslo", False, False),
        ("did you mean 'grade'?", False, True),
        ("columns: city, grade", False, True),
        ("column `grade` is unknown", False, True),
        ("b.grade", False, True),
        ("city or grade", False, True),
        ("see DWD.Wages", True, True),
        ("wages$quarantine", True, True),
        ("GROSS_PAY", True, True),
        ("paying", False, False),
    ],
)
def test_names_in_texts(text, prose, message):
    names = Names.of(ALL)
    assert (names.in_text(text), names.in_message(text)) == (prose, message)
    assert ("(withheld)" in names.masked(text), "(withheld)" in names.masked_message(text)) == (prose, message)
