"""SH4xx: a store refuses, cannot be reached, or does not have what was recorded."""

from streamhouse.errors.base import StreamhouseError


class StoreError(StreamhouseError):
    """A store refuses a request, or does not have what it should have.

    Cause:
        Fluss, Paimon, Iceberg, an object store or a catalog answered with an error that no other code
        describes: missing rights, a damaged file, a feature that the tier does not have.

    Example:
        SH400 Fluss refuses a request for dwd.sales: the request is too large (code 10)

    Remedy:
        Read the reason in the message. For a file that is damaged or gone, bring it back from a copy.
    """

    code = "SH400"
    exit_code = 5


class StoreUnavailableError(StoreError):
    """A store does not answer; the same call may succeed later.

    Cause:
        Fluss, Kafka, a schema registry, an object store, a catalog or the database of the state store is
        down, starts, or cannot be reached from here. A flow that runs waits and tries again.

    Example:
        SH401 no Fluss is running for this project
          hint: streamhouse services up

    Remedy:
        Start the service or mend the network. `streamhouse services status` shows the embedded services.
    """

    code = "SH401"
    retryable = True


class TableMissingError(StoreError):
    """A store does not have a table that the plan needs.

    Cause:
        The flow that writes the table has not run yet, or its plan was not applied.

    Example:
        SH402 Iceberg has no table dwd.sales
          hint: it is created when the flow that writes it starts

    Remedy:
        Run the flow that writes the table: `streamhouse run FLOW --once`.
    """

    code = "SH402"


class SchemaConflictError(StoreError):
    """A store has the table with another schema, key or bucket count than the plan.

    Cause:
        The table was created by another program or by an earlier definition, and the difference cannot be
        removed by adding columns.

    Example:
        SH403 Fluss cannot add cents to dws.revenue, which merges
          hint: rebuild the table with the new column

    Remedy:
        Rebuild the table (`streamhouse plan` shows how), or give the new table another name.
    """

    code = "SH403"


class RowsLostError(StoreError):
    """A reader needs rows that the store no longer has.

    Cause:
        The reader was down for longer than the retention of its input: the log's TTL passed, a snapshot
        expired, Kafka removed messages, or a file was deleted before all its rows were read. Or a query asks
        for a moment of a table whose version of that time is not stored any more.

    Example:
        SH404 bucket 3: offsets 120..180 are in no tier
          hint: raise the table's log TTL above the tiering interval, then backfill

    Remedy:
        Bring the rows back where you can (a file, a topic). Otherwise rebuild the tables downstream, and
        set a retention that is longer than a reader may be down. docs/restore.md describes both. For a query,
        ask for a moment that the hint names; docs/query.md says which moments can be read.
    """

    code = "SH404"


class WriteRefusedError(StoreError):
    """A store refuses rows: a null key, a value that does not fit, two rows of one key.

    Cause:
        A row has no value in a column of the key, or that its table is partitioned by, and the stored table takes
        none there; or it has a value that its column cannot store; or a result that is computed as a whole has
        two different rows of one key, of which neither could win. No row of the epoch is recorded as written.
        A table that was made by an earlier version takes no NULL in its key; see docs/tiers.md.

    Example:
        SH405 2 rows for dwd.sales have no basket_id, which is part of its primary key
          hint: give such rows a value of their own by COALESCE(basket_id, …) in SELECT

    Remedy:
        Give such rows a value by COALESCE in the action's SQL, declare the column of the source `not null`, or
        declare an expectation with `on_violation: quarantine`. Of two rows of one key choose one, or declare a longer key. Then apply the change; the epoch runs again.
    """

    code = "SH405"


class TableLostError(StoreError):
    """A table that the state store knows is missing, was replaced, or ends before its recorded end.

    Cause:
        A table or its files were dropped, or an older copy was restored. While the records disagree,
        Streamhouse answers no query from the table, writes nothing to it and removes nothing.

    Example:
        SH406 dwd.sales in the warm tier is gone
          hint: bring back its data as it was then or later; if that is lost, see what comes back: streamhouse restore --dry-run

    Remedy:
        Bring the data back from a copy. If it is lost, `streamhouse restore` rebuilds what can be rebuilt;
        see docs/restore.md.
    """

    code = "SH406"


class LoginRefusedError(StoreError):
    """A store does not know the user, or refuses the password.

    Cause:
        Fluss asks for a login, and the user or the password that Streamhouse gives is wrong or missing.

    Example:
        SH407 Fluss does not let us in: Authentication failed: Invalid username or password
          hint: fluss_login.user (STREAMHOUSE_FLUSS_USER) is who logs in, with STREAMHOUSE_FLUSS_PASSWORD

    Remedy:
        Set `fluss_login.user` in `streamhouse.yaml` and the password as the environment variable
        STREAMHOUSE_FLUSS_PASSWORD.
    """

    code = "SH407"
