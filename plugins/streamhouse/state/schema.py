"""The tables of the state store. Plain types only, so that any SQL database can hold them."""

from sqlalchemy import JSON, Column, Float, Index, MetaData, Table

from streamhouse.state.checked import BigInteger, Integer, String, Text

SCHEMA_VERSION = 11

metadata = MetaData()

schema_version = Table(
    "streamhouse_schema",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
)

plan = Table(
    "streamhouse_plan",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("fingerprint", String(64), nullable=False),
    Column("body", Text, nullable=False),  # the FlowPlan as JSON
    Column("applied_ms", BigInteger, nullable=False),
)

# One row for each flow: rises each time that the flow takes up a plan or versions of tables, and never falls.
generation = Table(
    "streamhouse_generation",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("number", BigInteger, nullable=False),
)

# The files that a plan follows from: of every plan that was asked for or applied, where they are known.
definition = Table(
    "streamhouse_definition",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("fingerprint", String(64), primary_key=True),  # of the plan
    Column("body", Text, nullable=False),  # the Definition as JSON
    Column("noted_ms", BigInteger, nullable=False),
)

# One row for each flow that ever ran. It is never deleted: `fencing` must not start again from 1.
lease = Table(
    "streamhouse_lease",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("fencing", BigInteger, nullable=False),
    Column("host", String(255), nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("process_started_ms", BigInteger, nullable=False),
    Column("acquired_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Column("held", Integer, nullable=False),  # 1 until released
    Column("state", String(20), nullable=False),
    Column("state_ms", BigInteger, nullable=False),
    Column("error", Text),
)

epoch = Table(
    "streamhouse_epoch",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("segment", String(200), primary_key=True),
    Column("epoch", BigInteger, primary_key=True, autoincrement=False),
    Column("fencing", BigInteger, nullable=False),  # of the last attempt
    Column("at_ms", BigInteger, nullable=False),
    Column("started_ms", BigInteger, nullable=False),
    Column("finished_ms", BigInteger),  # NULL: begun and not finished
    Column("record", JSON),  # start, end, ends, rows, layer_visible_ms, computed
)

# Sums over all epochs, which outlive the pruned ones.
segment_total = Table(
    "streamhouse_segment_total",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("segment", String(200), primary_key=True),
    Column("epochs", BigInteger, nullable=False),
)
table_total = Table(
    "streamhouse_table_total",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("table_name", String(200), primary_key=True),
    Column("rows", BigInteger, nullable=False),
)

# Sums over the epochs that finished within a minute or an hour, for charts.
metric = Table(
    "streamhouse_metric",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("length_s", Integer, primary_key=True, autoincrement=False),
    Column("start_ms", BigInteger, primary_key=True, autoincrement=False),
    Column("body", JSON, nullable=False),  # epochs, busy_ms, longest_ms, rows, lags
)

# The journal of `apply`: one row for each change that was asked for, never deleted.
change = Table(
    "streamhouse_change",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("flow", String(200), nullable=False),
    Column("phase", String(20), nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("body", Text, nullable=False),  # the FlowPlan wanted, as JSON
    Column("versions", JSON, nullable=False),  # table → the version it gets; of tables that are rebuilt
    Column("moves", JSON, nullable=False),  # table of another flow → the version it is read at from now on
    Column("environment", String(63)),  # NULL: production
    Column("base", Integer, nullable=False),  # revision that was applied when it was asked
    Column("followers", JSON, nullable=False),  # other flow → its tables that are rebuilt when this is done
    Column("copies", JSON, nullable=False),  # of the tables that are rebuilt, those whose rows are copied
    Column("marks", JSON, nullable=False),  # table → columns that mean something else in older rows
    Column("asked_by", String(255), nullable=False),
    Column("asked_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
    Column("error", Text),
    Index("streamhouse_change_flow", "flow", "id"),
)

# What stands between the tables that a change built and their serving.
review = Table(
    "streamhouse_change_review",
    metadata,
    Column("change", BigInteger, primary_key=True, autoincrement=False),
    Column("gate", String(20), nullable=False),
    Column("body", Text),  # the Review as JSON; NULL: nothing was looked at yet
    Column("cleared", Integer, nullable=False),  # 1: the change was given up, and what it built is dropped
)

# Persons whose rows an open change leaves out. The row goes with the change: it has the values of their keys.
forgetting = Table(
    "streamhouse_forgetting",
    metadata,
    Column("change", BigInteger, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),  # the Forgetting as JSON
)

# Every table that was ever applied.
table_version = Table(
    "streamhouse_table_version",
    metadata,
    Column("table_name", String(200), primary_key=True),
    Column("version", Integer, nullable=False),  # that serves
    Column("newest", Integer, nullable=False),  # that was ever begun
    Column("switched_ms", BigInteger, nullable=False),
)

# Columns that mean what a plan says in rows written since it was applied only; absent: in all rows.
meaning = Table(
    "streamhouse_meaning",
    metadata,
    Column("table_name", String(200), primary_key=True),
    Column("column_name", String(200), primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("since_ms", BigInteger, nullable=False),
)

# The same of versions that no longer serve, should a change be undone.
version_meaning = Table(
    "streamhouse_kept_meaning",
    metadata,
    Column("table_name", String(200), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("column_name", String(200), primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("since_ms", BigInteger, nullable=False),
)

# Versions that no longer serve and are not dropped yet.
retired_version = Table(
    "streamhouse_retired_version",
    metadata,
    Column("table_name", String(200), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),  # the Table as JSON
    Column("change", BigInteger, nullable=False),  # by which it was replaced
    Column("revision", Integer, nullable=False),  # of the plan that filled it
    Column("positions", JSON, nullable=False),  # of its flow then: source or stored table → position
    Column("retired_ms", BigInteger, nullable=False),
)

# At which version a flow reads a table of another one.
read_version = Table(
    "streamhouse_read_version",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("table_name", String(200), primary_key=True),
    Column("version", Integer, nullable=False),
)

event = Table(
    "streamhouse_event",
    metadata,
    # SQLite numbers rows by itself for INTEGER keys only.
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("flow", String(200), nullable=False),
    Column("kind", String(50), nullable=False),
    Column("text", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Index("streamhouse_event_flow", "flow", "id"),
)

# What changed upstream of a flow, and what was decided. One change is one row, however often it is seen.
upstream_event = Table(
    "streamhouse_upstream_event",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("id", String(32), primary_key=True),
    Column("status", String(20), nullable=False),
    Column("event", Text, nullable=False),  # the UpstreamEvent as JSON
    Column("decision", Text),  # the Decision as JSON
    Column("plan", String(64)),  # fingerprint of the plan that carries it
    Column("note", Text),
    Column("seen_ms", BigInteger, nullable=False),
    Column("status_ms", BigInteger, nullable=False),
)

approval = Table(
    "streamhouse_approval",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("flow", String(200), nullable=False),
    Column("subject", String(64), nullable=False),  # what it is about: the id of an event, the fingerprint of a plan
    Column("asks", Text, nullable=False),
    Column("evidence", Text, nullable=False),  # for people
    Column("document", JSON, nullable=False),  # for programs
    Column("state", String(20), nullable=False),
    Column("asked_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Column("decided_ms", BigInteger),
    Column("decided_by", String(255)),
    Column("reason", Text),
    Index("streamhouse_approval_subject", "flow", "subject"),
)

# What a flow last took for the schema of something it reads.
pin = Table(
    "streamhouse_pin",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("object", String(200), primary_key=True),
    Column("body", Text, nullable=False),
)

# One row for each runner that ever lived, and for each flow that was ever asked of one.
runner = Table(
    "streamhouse_runner",
    metadata,
    Column("name", String(63), primary_key=True),
    Column("fencing", BigInteger, nullable=False),
    Column("host", String(255), nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("process_started_ms", BigInteger, nullable=False),
    Column("claimed_ms", BigInteger, nullable=False),
    Column("beat_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Column("life", String(20), nullable=False),
    Column("life_ms", BigInteger, nullable=False),
    Column("stage", Text, nullable=False),
    Column("log", Text),
    Column("error", Text),
)
wanted_flow = Table(
    "streamhouse_wanted_flow",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("wanted", String(20), nullable=False),
    Column("runner", String(63), nullable=False),
    Column("ask", BigInteger, nullable=False),  # counts what was asked: a try that failed is made again for a new one
    Column("asked_by", String(255), nullable=False),
    Column("asked_ms", BigInteger, nullable=False),
    Column("over", BigInteger, nullable=False),  # the last `ask` whose try failed; 0: none
    Column("error", Text),  # why
)

# Rounds of tiering that were asked of a flow's runner: the last one asked, the last one done, and what it did.
tier_ask = Table(
    "streamhouse_tier_ask",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("is_check", Integer, primary_key=True, autoincrement=False),  # 1: nothing is moved
    Column("asked", BigInteger, nullable=False),
    Column("done", BigInteger, nullable=False),
    Column("answer", Text),  # JSON
)

# Tables that stand in a tier, and how far tiering filled them: what must be there.
known_table = Table(
    "streamhouse_known_table",
    metadata,
    Column("table_name", String(200), primary_key=True),  # as stores call it
    Column("tier", String(20), primary_key=True),
    Column("identity", String(200), nullable=False),  # by which the store distinguishes it from another one of its name
    Column("made_ms", BigInteger, nullable=False),  # epochs that ended before were of an earlier one
    Column("round", BigInteger),  # of tiering, the last one recorded; NULL: nothing was tiered into it
    Column("ends", JSON),  # where it ended then
)

# What goes wrong with a table while its flow runs on; gone when it goes well again.
trouble = Table(
    "streamhouse_trouble",
    metadata,
    Column("flow", String(200), primary_key=True),
    Column("table_name", String(200), primary_key=True),  # that people know
    Column("tier", String(20), primary_key=True),
    Column("job", String(20), primary_key=True),  # tiering, upkeep
    Column("code", String(10), nullable=False),
    Column("text", Text, nullable=False),
    Column("hint", Text),
    Column("since_ms", BigInteger, nullable=False),
    Column("last_ms", BigInteger, nullable=False),
    Column("times", BigInteger, nullable=False),
)

# What the autopilot proposed and did. Never deleted: it does not try again at once what it had to take back.
autopilot = Table(
    "streamhouse_autopilot",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("flow", String(200), nullable=False),
    Column("finding", String(500), nullable=False),  # the same for the same fault seen again
    Column("kind", String(50), nullable=False),
    Column("means", String(20), nullable=False),
    Column("text", Text, nullable=False),
    Column("remedy", Text, nullable=False),
    Column("numbers", JSON, nullable=False),  # what was compared
    Column("edits", JSON, nullable=False),  # key of the flow's file → new value
    Column("goal", String(50), nullable=False),
    Column("outcome", String(20)),  # of the plan; NULL: there is none
    Column("window_ms", BigInteger, nullable=False),
    Column("state", String(20), nullable=False),
    Column("reason", Text, nullable=False),
    Column("since_ms", BigInteger, nullable=False),
    Column("found_ms", BigInteger, nullable=False),
    Column("applied_ms", BigInteger),
    Column("state_ms", BigInteger, nullable=False),
    Column("before", Float),
    Column("after", Float),
    Column("file", Text),  # from the project's folder
    Column("old_text", Text),  # of that file
    Column("new_hash", String(24)),  # of what was written into it
    Index("streamhouse_autopilot_flow", "flow", "id"),
)

# What the planner proposed. Bounded: see `state.proposals`.
proposal = Table(
    "streamhouse_proposal",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("flow", String(200), nullable=False),  # empty: it is of none
    Column("body", Text, nullable=False),  # the Proposal as JSON
    Column("asked", Text, nullable=False),  # how it was asked for, as JSON
    Index("streamhouse_proposal_of_flow", "flow"),
)

# What happened to proposals. A row of its own for each, so that two writers at once lose nothing.
proposal_event = Table(
    "streamhouse_proposal_event",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("proposal", String(32), nullable=False),
    Column("what", String(20), nullable=False),
    Column("detail", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Index("streamhouse_proposal_event_of", "proposal", "id"),
)

# What was sent to a model, masked: one row for each time that a wish was asked of one.
sent = Table(
    "streamhouse_sent",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("name", String(32), nullable=False),  # the id of the proposal; while there is none, one of its own
    Column("unfinished", Integer, nullable=False),  # 1: there is no proposal
    Column("requests", Text, nullable=False),  # JSON
    Column("at_ms", BigInteger, nullable=False),
    Index("streamhouse_sent_for", "name", "id"),
)
