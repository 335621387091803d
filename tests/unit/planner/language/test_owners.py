"""Values that two keys reach are those of the thing right before them; else a question tells the two apart."""

from streamhouse.planner.understand import understand
from tests.unit.planner.compact_request import compact
from tests.unit.planner.wish_catalogs import catalog, table

DEPOTS = {"depot_name": {"Eastgate": [], "Hilltop": []}}
YARD = catalog(
    table("ods.depots", ["depot_id"], None, ["depot_id:i", "depot_name:s"], values=DEPOTS),
    table("ods.vans", ["van_id"], None, ["van_id:i", "depot_id:i>ods.depots.depot_id"]),
    table("ods.drivers", ["driver_id"], None, ["driver_id:i", "depot_id:i>ods.depots.depot_id"]),
    table("ods.tours", ["tour_id"], "began_at",
          ["tour_id:i", "van_id:i>ods.vans.van_id", "driver_id:i>ods.drivers.driver_id", "began_at:t"]),
)  # fmt: skip


def test_a_value_belongs_to_the_thing_before_it():
    found = compact(understand("number of tours of vans from Eastgate", YARD))
    assert found == "ods.tours; join van=ods.vans, depot=ods.depots; where depot.depot_name = Eastgate; get count(*)"
    found = understand("number of tours of drivers from Eastgate per month", YARD)
    assert "join driver=ods.drivers, driver_depot=ods.depots; where driver_depot.depot_name" in compact(found)
    assert any("'Eastgate' is" in one for one in found.assumptions)


def test_choices_that_nothing_decides_differ():
    [question] = understand("number of tours from Eastgate", YARD).questions
    assert len(set(question.choices)) == 2
    assert all("Eastgate" in choice for choice in question.choices)


def test_a_verb_may_say_by_which_key_others_are_reached():
    walks = catalog(
        table("ods.people", ["person_no"], None, ["person_no:i", "grade:s"], values={"grade": {"ranger": ["rangers"]}}),
        table(
            "ods.walks",
            ["walk_no"],
            "held_at",
            ["walk_no:i", "leader_no:i>ods.people.person_no;who led it", "held_at:t"],
        ),
    )
    found = compact(understand("walks led by rangers per month", walks))
    assert "where person.grade = ranger; by month(held_at); get count(*)" in found
    assert understand("walks painted by rangers per month", walks).request is None


def test_a_group_belongs_to_the_thing_before_it_and_to_the_one_that_is_ranked():
    assert "by van.depot_id" in compact(understand("tours of vans per depot", YARD))
    assert "by driver.depot_id, driver_id" in compact(
        understand("for each depot, the driver with the most tours", YARD)
    )
    assert understand("number of tours per depot", YARD).request is None
