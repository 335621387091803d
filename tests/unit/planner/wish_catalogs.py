# ruff: noqa: E501 - one wish, or one column, a line
"""Catalogs of trades that no benchmark has, written by hand: a library, a hotel, energy meters, a help desk."""

from streamhouse.model.meaning import MeasureMeaning
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey

_TYPES = {"i": "bigint", "s": "string", "t": "timestamp", "d": "date", "f": "double", "b": "boolean"}


def column(text: str, **more) -> CatalogColumn:
    """`name:type`, then `=words`, `|synonym|synonym`, `>table.column`, `#unit`, `;description`."""
    head, _, description = text.partition(";")
    head, _, reference = head.partition(">")
    head, _, unit = head.partition("#")
    head, *synonyms = head.split("|")
    name, _, kind = head.partition(":")
    target = tuple(reference.strip().rsplit(".", 1)) if reference else None
    values = {code: tuple(dict.fromkeys((code, *words))) for code, words in more.get("values", {}).items()}
    return CatalogColumn(
        name.strip(), _TYPES[kind.strip()], description=description.strip(), synonyms=tuple(s.strip() for s in synonyms),
        unit=unit.strip() or None, values=values, open_values=not values, references=target,
    )  # fmt: skip


def table(name, key, time, columns, *, synonyms=(), measures=None, description="", values=None, upstream=()):
    found = tuple(column(text, values=(values or {}).get(text.split(":")[0].strip(), {})) for text in columns)
    return CatalogTable(
        name, "flow", "action", found, primary_key=tuple(key), event_time=time, synonyms=tuple(synonyms),
        description=description, measures={n: MeasureMeaning.model_validate(m) for n, m in (measures or {}).items()},
        upstream=tuple(upstream),
    )  # fmt: skip


def catalog(*tables: CatalogTable) -> Catalog:
    by_name = {one.name: one for one in tables}
    keys = [
        ForeignKey(one.name, (c.name,), c.references[0], (c.references[1],), declared=True)
        for one in tables
        for c in one.columns
        if c.references
    ]
    return Catalog(by_name, tuple(keys))


LIBRARY = catalog(
    table("ods.members", ["member_id"], "joined_on", ["member_id:i", "name:s", "town:s|city", "category:s", "joined_on:d|registered", "email:s|email address"],
          synonyms=["reader", "patron"], values={"category": {"A": ["adult"], "C": ["child", "children"], "S": ["senior"]}}),
    table("ods.books", ["book_id"], None, ["book_id:i", "title:s", "author:s|writer", "genre:s", "pages:i|length#pages", "price_cents:i|price#cents"],
          synonyms=["title"], values={"genre": {"crime": [], "poetry": ["poems"], "science": [], "novel": ["fiction"]}}),
    table("ods.branches", ["branch_id"], None, ["branch_id:i", "branch_name:s", "district:s", "seats:i"], synonyms=["library"],
          values={"branch_name": {"Main Street": [], "Harbour": [], "Old Town": []}}),
    table("dwd.loans", ["loan_id"], "lent_at",
          ["loan_id:i", "member_id:i>ods.members.member_id", "book_id:i>ods.books.book_id", "branch_id:i>ods.branches.branch_id",
           "lent_at:t|borrowed", "due_on:d|due date", "returned_at:t|brought back;when the book came back, empty while it is on loan",
           "fine_cents:i|fine|late fee#cents", "renewals:i|times renewed;how often the loan was extended"],
          synonyms=["borrowing", "checkout"], description="Every book that a member took home.",
          measures={"loans": {"sql": "COUNT(*)", "synonyms": ["borrowings"]}, "fines": {"sql": "SUM(fine_cents) / 100", "unit": "USD", "synonyms": ["fine income"]}}),
    table("dwd.reservations", ["reservation_id"], "reserved_at",
          ["reservation_id:i", "member_id:i>ods.members.member_id", "book_id:i>ods.books.book_id", "reserved_at:t", "status:s|state"],
          synonyms=["hold"], values={"status": {"W": ["waiting", "pending"], "R": ["ready"], "X": ["cancelled", "canceled"], "F": ["fulfilled"]}}),
)  # fmt: skip

HOTEL = catalog(
    table("ods.guests", ["guest_id"], None, ["guest_id:i", "full_name:s|name", "country:s|nationality", "loyalty_tier:s|tier"],
          synonyms=["customer"], values={"country": {"DE": ["Germany", "German"], "FR": ["France", "French"], "US": ["United States", "American"]},
                                         "loyalty_tier": {"gold": [], "silver": [], "none": []}}),
    table("ods.rooms", ["room_no"], None, ["room_no:i|room number", "hotel_id:i>ods.hotels.hotel_id", "room_type:s", "beds:i", "has_balcony:b|balcony"],
          values={"room_type": {"SGL": ["single", "single room"], "DBL": ["double", "double room"], "STE": ["suite"]}}),
    table("ods.hotels", ["hotel_id"], None, ["hotel_id:i", "hotel_name:s", "city:s|town", "stars:i|star rating"], synonyms=["property"],
          values={"city": {"Lisbon": [], "Porto": [], "Faro": []}}),
    table("dwd.bookings", ["booking_id"], "booked_at",
          ["booking_id:i", "guest_id:i>ods.guests.guest_id", "room_no:i>ods.rooms.room_no", "booked_at:t", "check_in:d|arrival|arrival date", "check_out:d|departure|departure date",
           "nights:i|length of stay#nights", "price_cents:i|price|room rate#cents", "channel:s|booking channel", "status:s", "rating:i|score"],
          synonyms=["reservation", "stay"], description="Every booking of a room by a guest.",
          values={"channel": {"web": ["website", "online"], "phone": [], "agency": ["travel agency"]}, "status": {"C": ["cancelled", "canceled"], "O": ["confirmed"], "D": ["completed"]}},
          measures={"revenue": {"sql": "SUM(price_cents) / 100", "unit": "USD", "synonyms": ["turnover", "sales"]}, "room_nights": {"sql": "SUM(nights)", "synonyms": ["nights sold"]}}),
)  # fmt: skip

ENERGY = catalog(
    table("ods.households", ["household_id"], None, ["household_id:i", "region:s|area", "tariff:s|plan", "people:i|persons|household size"], synonyms=["customer", "home"],
          values={"region": {"north": [], "south": [], "west": []}, "tariff": {"G": ["green", "green tariff"], "B": ["basic"], "N": ["night saver"]}}),
    table("ods.meters", ["meter_id"], None, ["meter_id:s|meter number", "household_id:i>ods.households.household_id", "kind:s|meter type", "installed_on:d|installed", "is_smart:b|smart"],
          values={"kind": {"E": ["electricity"], "G": ["gas"], "W": ["water"]}}),
    table("dwd.readings", ["meter_id", "read_at"], "read_at", ["meter_id:s>ods.meters.meter_id", "read_at:t", "usage_kwh:f|consumption|usage|energy used#kwh", "voltage:f#volts", "quality:s"],
          synonyms=["measurement"], description="What each meter used in a quarter of an hour.", values={"quality": {"ok": ["good"], "est": ["estimated"], "bad": ["faulty"]}},
          measures={"consumption": {"sql": "SUM(usage_kwh)", "unit": "kWh", "synonyms": ["energy consumption", "electricity use"]}}),
    table("dwd.outages", ["outage_id"], "began_at", ["outage_id:i", "region:s", "began_at:t|started", "ended_at:t|restored", "cause:s|reason", "affected:i|affected homes"],
          synonyms=["power cut", "blackout"], values={"region": {"north": [], "south": [], "west": []}, "cause": {"storm": [], "fault": ["equipment fault"], "works": ["maintenance works"]}}),
)  # fmt: skip

SUPPORT = catalog(
    table("ods.agents", ["agent_id"], None, ["agent_id:i", "agent_name:s", "team:s|squad", "hired_on:d"], synonyms=["support agent"],
          values={"team": {"billing": [], "technical": ["tech"], "onboarding": []}}),
    table("ods.accounts", ["account_id"], "created_at", ["account_id:i", "company:s", "plan:s", "industry:s", "created_at:t", "monthly_fee_cents:i|monthly fee|subscription fee#cents"],
          synonyms=["customer"], values={"plan": {"free": [], "pro": ["professional"], "ent": ["enterprise"]}}),
    table("dwd.tickets", ["ticket_id"], "opened_at",
          ["ticket_id:i", "account_id:i>ods.accounts.account_id", "agent_id:i>ods.agents.agent_id;who works on it", "opened_at:t|created|submitted", "first_reply_at:t|first reply|answered",
           "closed_at:t|resolved|solved;when it was closed, empty while it is open", "priority:s|urgency", "topic:s|category", "channel:s", "csat:i|satisfaction|satisfaction score", "reopened:b|was reopened", "replies:i|number of replies|messages"],
          synonyms=["case", "support request", "issue"], description="Requests for help.",
          values={"priority": {"1": ["urgent", "critical"], "2": ["high"], "3": ["normal"], "4": ["low"]}, "topic": {"login": [], "invoice": ["invoices", "billing question"], "bug": ["bugs", "defect"]}, "channel": {"email": [], "chat": [], "phone": []}}),
)  # fmt: skip

CATALOGS = {"library": LIBRARY, "hotel": HOTEL, "energy": ENERGY, "support": SUPPORT}
