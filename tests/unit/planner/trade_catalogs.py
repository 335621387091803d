# ruff: noqa: E501 - one table, or one column, a line
"""Small catalogs of trades that no benchmark has: glasses, flats to let, parcels, school meals, buses."""

from tests.unit.planner.wish_catalogs import catalog, table

OPTICIAN = catalog(
    table("ods.shops", ["shop_id"], None, ["shop_id:i", "shop_name:s;name on the door", "city:s|town;where the shop is"], synonyms=["branch"]),
    table("ods.staff", ["staff_id"], "hired_on", ["staff_id:i", "staff_name:s", "shop_id:i>ods.shops.shop_id", "hired_on:d", "left_on:d;empty while employed"], synonyms=["employee"]),
    table("ods.customers", ["customer_id"], "signed_up_on", ["customer_id:i", "name:s", "city:s", "born_on:d|date of birth", "signed_up_on:d"], synonyms=["client"]),
    table("ods.frames", ["frame_id"], None, ["frame_id:i", "brand:s|label", "colour:s"]),
    table("ods.eye_tests", ["test_id"], "tested_at", ["test_id:i", "customer_id:i>ods.customers.customer_id", "staff_id:i>ods.staff.staff_id", "tested_at:t", "needs_glasses:b;whether glasses were recommended", "fee_eur:f|fee#EUR"]),
    table("ods.orders", ["order_id"], "ordered_at",
          ["order_id:i", "customer_id:i>ods.customers.customer_id", "frame_id:i>ods.frames.frame_id", "staff_id:i>ods.staff.staff_id;who sold it", "ordered_at:t;when it was sold", "collected_on:d|picked up;empty while in the shop", "price_eur:f|amount#EUR", "lens_type:s"],
          synonyms=["sale"], values={"lens_type": {"SV": ["single vision"], "SUN": ["sunglasses"]}}, measures={"revenue": {"sql": "SUM(price_eur)", "unit": "EUR"}}),
    table("ods.complaints", ["complaint_id"], "made_on", ["complaint_id:i", "order_id:i>ods.orders.order_id", "made_on:d;when the customer complained", "settled_on:d;empty if open"]),
)  # fmt: skip

LETTING = catalog(
    table("ods.agents", ["agent_no"], None, ["agent_no:i", "agent_name:s", "left_on:d;last day, empty while working for us"]),
    table("ods.owners", ["owner_no"], None, ["owner_no:i", "owner_name:s", "is_company:b|company"], synonyms=["landlord"]),
    table("ods.flats", ["flat_no"], "listed_on", ["flat_no:i", "owner_no:i>ods.owners.owner_no", "agent_no:i>ods.agents.agent_no", "district:s;part of the town", "rent_eur:f|rent#EUR", "heating_eur:f|heating costs#EUR", "built_in:i|year of construction", "has_lift:b|lift", "listed_on:d"], synonyms=["apartment"]),
    table("ods.seekers", ["seeker_no"], "registered_on", ["seeker_no:i", "seeker_name:s", "registered_on:d"], synonyms=["tenant"]),
    table("ods.viewings", ["viewing_no"], "viewed_at", ["viewing_no:i", "flat_no:i>ods.flats.flat_no", "seeker_no:i>ods.seekers.seeker_no", "viewed_at:t", "score:i|rating"]),
    table("ods.contracts", ["contract_no"], "signed_on", ["contract_no:i", "flat_no:i>ods.flats.flat_no", "seeker_no:i>ods.seekers.seeker_no", "signed_on:d", "ends_on:d|end of the tenancy;empty: open-ended", "deposit_eur:f|deposit#EUR", "deposit_paid_on:d;empty if not yet"]),
    table("ods.repairs", ["repair_no"], "reported_at", ["repair_no:i", "flat_no:i>ods.flats.flat_no", "reported_at:t", "fixed_at:t;when it was repaired, empty while it is not", "cost_eur:f|costs#EUR"], synonyms=["damage"]),
)  # fmt: skip

PARCELS = catalog(
    table("ods.drivers", ["driver_id"], None, ["driver_id:i", "full_name:s"], synonyms=["courier"]),
    table("ods.senders", ["sender_id"], None, ["sender_id:i", "company:s|company name"], synonyms=["shipper"]),
    table("ods.parcels", ["parcel_no"], "handed_in_at", ["parcel_no:s", "sender_id:i>ods.senders.sender_id", "handed_in_at:t", "delivered_at:t;empty until then", "lost:b", "weight_kg:f|weight#kg", "insured_eur:f|insured value#EUR"], synonyms=["package"]),
    table("ods.attempts", ["attempt_id"], "tried_at", ["attempt_id:i", "parcel_no:s>ods.parcels.parcel_no", "driver_id:i>ods.drivers.driver_id", "tried_at:t", "outcome:s|result"], synonyms=["stop"], values={"outcome": {"OK": ["successful"], "REF": ["refused"]}}),
    table("ods.routes", ["route_id"], "left_at", ["route_id:i", "driver_id:i>ods.drivers.driver_id", "left_at:t", "back_at:t", "km:f|kilometres|distance#km", "stops:i|number of stops"], synonyms=["tour"]),
)  # fmt: skip

MEALS = catalog(
    table("ods.schools", ["school_no"], None, ["school_no:i", "school_name:s", "town:s"]),
    table("ods.pupils", ["pupil_no"], "enrolled_on", ["pupil_no:i", "first_name:s", "school_no:i>ods.schools.school_no", "born_on:d", "enrolled_on:d"], synonyms=["child"]),
    table("ods.menus", ["menu_no"], "served_on", ["menu_no:i", "served_on:d;day for which it is planned", "dish:s", "planned_on:d;when the kitchen planned it"]),
    table("dwd.meals", ["meal_id"], "eaten_on", ["meal_id:i", "pupil_no:i>ods.pupils.pupil_no", "menu_no:i>ods.menus.menu_no", "ordered_at:t;when the parents ordered it", "eaten_on:d;day of the meal", "cancelled_at:t;empty: not cancelled"], synonyms=["lunch"], description="One row for each meal that was ordered."),
    table("ods.inspections", ["inspection_no"], "inspected_on", ["inspection_no:i", "inspected_on:d", "inspector:s", "grade:i|mark"]),
)  # fmt: skip

BUSES = catalog(
    table("ods.lines", ["line_no"], None, ["line_no:i|line number", "line_name:s", "length_km:f|length#km", "zone:s"]),
    table("ods.buses", ["bus_no"], "bought_on", ["bus_no:i", "maker:s|brand", "bought_on:d", "fuel_type:s|drive"], synonyms=["vehicle"], values={"fuel_type": {"D": ["diesel"], "E": ["electric"]}}),
    table("ods.runs", ["run_id"], "planned_start", ["run_id:i", "line_no:i>ods.lines.line_no", "bus_no:i>ods.buses.bus_no", "planned_start:t", "started_at:t|departed", "passengers:i|riders"], synonyms=["journey"]),
    table("ods.tickets", ["ticket_id"], "sold_at", ["ticket_id:i", "line_no:i>ods.lines.line_no", "sold_at:t", "price_cents:i|price|fare#cents", "channel:s"]),
    table("ods.repairs", ["repair_no"], "came_in_on", ["repair_no:i", "bus_no:i>ods.buses.bus_no", "came_in_on:d", "went_out_on:d", "hours:f|working hours#hours"]),
)  # fmt: skip

WINES = catalog(
    table("ods.wines", ["wine_no"], None, ["wine_no:i", "wine_name:s|label", "colour:s"], values={"colour": {"R": ["red"], "W": ["white"]}}),
    table("ods.customers", ["customer_no"], None, ["customer_no:i", "customer_name:s", "credit_limit_eur:f|credit limit#EUR"], synonyms=["client"]),
    table("dwd.order_lines", ["order_no", "line_no"], "ordered_at",
          ["order_no:i|order", "line_no:i", "customer_no:i>ods.customers.customer_no", "wine_no:i>ods.wines.wine_no", "ordered_at:t", "bottles:i|quantity", "amount_eur:f|line amount#EUR", "returned_bottles:i", "channel:s"],
          measures={"turnover": {"sql": "SUM(amount_eur)", "unit": "EUR"}}),
    table("ods.tastings", ["tasting_id"], "held_at", ["tasting_id:i", "held_at:t", "host:s"], synonyms=["wine tasting"]),
    table("ods.tasting_wines", ["tasting_id", "wine_no"], None, ["tasting_id:i>ods.tastings.tasting_id", "wine_no:i>ods.wines.wine_no", "score:f|points"]),
)  # fmt: skip

POOLS = catalog(
    table("ods.pools", ["pool_code"], None, ["pool_code:s", "pool_name:s", "district:s"], synonyms=["bath"]),
    table("ods.closures", ["closure_id"], "closed_from", ["closure_id:i", "pool_code:s>ods.pools.pool_code", "closed_from:t", "closed_until:t;empty while closed", "reason:s"], synonyms=["closing"]),
)  # fmt: skip

HIRING = catalog(
    table("ods.companies", ["company_id"], None, ["company_id:i", "company_name:s"]),
    table("dwd.applications", ["application_id"], "sent_at", ["application_id:i", "company_id:i>ods.companies.company_id", "sent_at:t", "interviewed_on:d;empty if there was none", "stage:s|status"],
          values={"stage": {"S": ["sent"], "I": ["interview"], "R": ["rejected"]}}),
)  # fmt: skip

WASHING = catalog(
    table("ods.programmes", ["programme_code"], None, ["programme_code:s|code", "water_l:f|water#litres;water for one wash"]),
    table("ods.members", ["member_id"], "joined_on", ["member_id:i", "name:s", "joined_on:d"], synonyms=["subscriber"]),
    table("dwd.washes", ["wash_id"], "started_at", ["wash_id:i", "programme_code:s>ods.programmes.programme_code", "member_id:i>ods.members.member_id;empty: a guest", "started_at:t", "paid_eur:f|paid amount#EUR", "paid_on:d", "stars:i|rating;1 to 5"]),
)  # fmt: skip

RESCUE = catalog(
    table("ods.hospitals", ["hospital_id"], None, ["hospital_id:i", "hospital_name:s"]),
    table("ods.ambulances", ["vehicle_no"], None, ["vehicle_no:i", "model:s", "retired_on:d;empty while in use", "value_eur:f|value#EUR"], synonyms=["vehicle"]),
    table("dwd.callouts", ["callout_id"], "called_at", ["callout_id:i", "hospital_id:i>ods.hospitals.hospital_id", "called_at:t", "patient_age:i#years"], synonyms=["mission"]),
    table("ods.bills", ["bill_no"], "issued_on", ["bill_no:i", "callout_id:i>dwd.callouts.callout_id", "issued_on:d", "payer:s"], values={"payer": {"INS": ["insurance"], "PRI": ["private", "patient"]}}),
)  # fmt: skip

TRADES = {
    "optician": OPTICIAN, "letting": LETTING, "parcels": PARCELS, "meals": MEALS, "buses": BUSES, "wines": WINES,
    "pools": POOLS, "hiring": HIRING, "washing": WASHING, "rescue": RESCUE,
}  # fmt: skip
