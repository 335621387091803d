# ruff: noqa: E501 - one table, or one column, a line
"""Small catalogs whose descriptions say more than names: kennels for dogs, coach tours, a print shop."""

from tests.unit.planner.wish_catalogs import catalog, table

KENNEL = catalog(
    table("ods.owners", ["owner_id"], None, ["owner_id:i", "owner_name:s", "town:s"], synonyms=["client"]),
    table("ods.runs", ["run_id"], None,
          ["run_id:i", "run_name:s", "heated:b", "price_per_night_eur:f|price per night;list price for one night#EUR"],
          synonyms=["kennel"]),
    table("ods.dogs", ["dog_id"], None,
          ["dog_id:i", "owner_id:i>ods.owners.owner_id", "run_id:i>ods.runs.run_id;kennel of the dog; empty on the waiting list",
           "dog_name:s|name", "breed:s", "born_on:d;birthday of the dog"]),
    table("ods.bills", ["bill_no"], "issued_on",
          ["bill_no:i", "owner_id:i>ods.owners.owner_id", "issued_on:d|issued;day of the bill", "amount_eur:f|amount#EUR",
           "paid_on:d|paid;day on which it was paid; empty while open", "paid_by:s|payment method;how it was paid"],
          synonyms=["invoice"], values={"paid_by": {"CSH": ["cash"], "TRF": ["transfer"]}}),
)  # fmt: skip

COACHES = catalog(
    table("ods.tours", ["tour_no"], "leaves_at",
          ["tour_no:i", "leaves_at:t|leaves", "state:s;what became of it", "dropped_for:s;why it was dropped; empty if it ran",
           "driver_id:i>ods.drivers.driver_id;driver; empty for hired coaches"],
          synonyms=["trip"], values={"state": {"RAN": ["completed"], "CAN": ["cancelled", "canceled"]}}),
    table("ods.drivers", ["driver_id"], None, ["driver_id:i", "driver_name:s", "pay_per_tour_eur:f|pay per tour#EUR", "licensed_on:d;date of the licence"]),
    table("ods.seats", ["seat_no"], "bought_at",
          ["seat_no:i", "tour_no:i>ods.tours.tour_no", "bought_at:t|bought", "channel:s;where it was bought", "fare_eur:f|fare#EUR"],
          synonyms=["ticket"], values={"channel": {"WEB": ["online"], "BUS": ["on board"]}}),
)  # fmt: skip

PRINTS = catalog(
    table("ods.orders", ["order_no"], "ordered_on",
          ["order_no:i", "client:s", "ordered_on:d|ordered;day of the order", "fate:s;what became of it", "sheets:i"],
          values={"fate": {"DLV": ["delivered"], "REJ": ["rejected"], "OPN": ["open"]}}),
    table("ods.papers", ["paper_id"], None,
          ["paper_id:i", "paper_name:s", "price_per_sheet_eur:f|price per sheet#EUR", "colour:s", "supplier:s;company that sells it; empty for our own stock"]),
    table("ods.runs", ["run_no"], "began_at",
          ["run_no:i", "order_no:i>ods.orders.order_no", "paper_id:i>ods.papers.paper_id", "began_at:t|began;start of the run", "ended_at:t|ended;when it was finished",
           "operator:s;who ran the press", "stopped_for:s;why it was stopped; empty if it was not"],
          synonyms=["press run"], values={"stopped_for": {"JAM": ["paper jam"], "INK": ["no ink"]}}),
)  # fmt: skip
