"""SH5xx: an epoch, a lease, a position, a change or an approval is not as recorded."""

from collections.abc import Collection

from streamhouse.errors.base import Location, StreamhouseError, did_you_mean


class EngineError(StreamhouseError):
    """The engine cannot go on, for a reason outside the rows of an epoch.

    Cause:
        Spark's Java process ended, or its stream ended by itself. The usual reason is memory.

    Example:
        SH500 Spark's Java process is gone
          hint: nothing is lost; the next run goes on from the same positions. Its log: .streamhouse/logs/spark.log

    Remedy:
        Read `.streamhouse/logs/spark.log`, then run the flow again. It continues from the same positions.
    """

    code = "SH500"
    exit_code = 6


class LeaseHeldError(EngineError):
    """Another process runs this flow.

    Cause:
        One process at a time writes the tables of a flow; the lease in the state store says which. It is
        another one, or one that died less than a lease's time ago. It may also be this process, which runs the
        flow in another thread.

    Example:
        SH501 flow 'orders' is run by process 4711 on alpha since 2026-03-01 12:00:00 UTC
          hint: stop that process, or wait until 12:01:00 UTC if it is gone

    Remedy:
        `streamhouse status` shows the process that runs the flow. Stop it, or wait until its lease ends.
    """

    code = "SH501"


class LeaseLostError(EngineError):
    """A newer process runs the flow now; this process stops and writes nothing more.

    Cause:
        This process did not renew its lease in time (it was suspended, or the state store was away), and
        another process acquired it.

    Example:
        SH502 flow 'orders' was taken over by process 815 on beta; this runner (process 4711 on alpha) must stop
          hint: see: streamhouse status

    Remedy:
        Nothing: the other process runs the flow. Find out why this one did not renew its lease.
    """

    code = "SH502"


class EpochFailedError(EngineError):
    """An epoch failed for a reason that a second attempt does not remove.

    Cause:
        The SQL of an action fails on a row, a result does not fit its table, an expectation with
        `on_violation: fail` is violated, or a result is larger than the process takes.

    Example:
        SH503 dwd.orders: action 'clean_orders' fails on a row: [CAST_INVALID_INPUT] The value 'x' cannot be cast
          hint: use TRY_CAST or a WHERE that keeps such rows out; no row was written

    Remedy:
        Correct the action or the limit that the message names, and apply the edit. The flow continues
        from the same positions.
    """

    code = "SH503"


class ResultShortError(EngineError):
    """Rows of a query's result did not arrive.

    Cause:
        Spark counted more rows than came to the process that asked for them. Nothing was made of the rows that came.

    Example:
        SH524 2 of 3 batches of a result have arrived
          hint: run it again; the log of Spark is .streamhouse/logs/spark.log

    Remedy:
        Run the command again; a running flow repeats the epoch by itself. If it happens again, send us
        `.streamhouse/logs/spark.log`.
    """

    code = "SH524"
    retryable = True

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="run it again; the log of Spark is .streamhouse/logs/spark.log")


class TooManyBadRowsError(EngineError):
    """A source has more rows that cannot be read than its flow allows.

    Cause:
        `on_bad_rows` of the source has a `limit`, and its dead-letter table would have more rows. Often
        the producer writes another format or another type than the flow declares.

    Example:
        SH527 source 'orders' of flow 'shop' has 12 rows that cannot be read, and its limit is 10 (1% of 1,000 rows)
          hint: see why: streamhouse quarantine show ods.shop_orders__dead_letters

    Remedy:
        Look at the reasons. Correct the declared columns, or raise the limit, and apply the edit; the flow
        continues from the same positions. Or read the dead letters again, so that fewer are left.
    """

    code = "SH527"


class StateConflictError(EngineError):
    """What a store has contradicts what the state store recorded.

    Cause:
        The state store, the checkpoint and the tables are from different moments, often because one of
        them was restored from an older copy, or two Streamhouse versions use one state store.

    Example:
        SH504 dwd.sales holds rows, but the state store knows of no epoch that wrote them
          hint: see what can be known, and mend it: streamhouse restore orders

    Remedy:
        Restore all three from the same moment, or follow `streamhouse restore FLOW`; see docs/restore.md.
    """

    code = "SH504"


class RestateError(EngineError):
    """A table cannot be recomputed from its history.

    Cause:
        The flow has not run yet, the table is a log from which rows cannot be removed, or several rows of
        a key exist and nothing says which is the newest.

    Example:
        SH505 orders has not run yet, so there is no history to restate
          hint: streamhouse run orders --once

    Remedy:
        Follow the hint: run the flow first, name a `version_column`, or rebuild the table.
    """

    code = "SH505"


class BlockedError(EngineError):
    """A change of a flow needs a person's decision; nothing was changed.

    Cause:
        The edit or the upstream change would lose rows, rewrite history, or break a reader. The plan marks
        it as BLOCK.

    Example:
        SH507 orders: a person must decide first: the primary key of dwd.orders changes
          hint: see: streamhouse plan orders; then, for example: streamhouse apply orders --choose dwd.orders=rebuild

    Remedy:
        Read `streamhouse plan FLOW`, then decide: `streamhouse apply FLOW --choose TABLE=rebuild`, or
        `streamhouse approvals` for an upstream change.
    """

    code = "SH507"
    exit_code = 11


class ChangeFailedError(EngineError):
    """A change of a flow could not be carried out; the flow runs on with the plan applied before.

    Cause:
        A store refused a new column, a rebuild failed, or a later change replaced this one. At the end of a run: a
        change upstream was granted or decided, and failed; its readers are paused.

    Example:
        SH508 orders: change 7 was withdrawn for a later one
          hint: see: streamhouse changes

    Remedy:
        `streamhouse changes ID` shows the reason. Correct the files and apply again. For a change upstream,
        `streamhouse status` says what to do: it is tried again, or `streamhouse refuse ID` gives it up.
    """

    code = "SH508"


class NoEnvironmentError(EngineError):
    """There is no environment of this name, or nothing differs from production.

    Cause:
        `streamhouse env` names an environment that was promoted, discarded or never created.

    Example:
        SH509 no flow has an environment 'test'
          hint: see: streamhouse env list

    Remedy:
        Create it: `streamhouse apply FLOW --env NAME`.
    """

    code = "SH509"


class AuditFailedError(EngineError):
    """Tables were rebuilt, and a check says that they must not serve.

    Cause:
        An expectation fails on the rebuilt rows, or they differ from the old ones more than allowed. The
        old tables serve as before.

    Example:
        SH510 orders: what change 7 built does not serve: dws.revenue has no rows
          hint: see: streamhouse changes 7; let it serve: streamhouse changes 7 --swap; or mend it and apply again

    Remedy:
        Compare the tables. Then let the new ones serve with `streamhouse changes ID --swap`, or correct the
        files and apply again.
    """

    code = "SH510"


class UnknownChangeError(EngineError):
    """The journal has no change with this number.

    Cause:
        The number is wrong, or belongs to another project.

    Example:
        SH511 there is no change 7
          hint: see: streamhouse changes

    Remedy:
        `streamhouse changes` lists all changes with their numbers.
    """

    code = "SH511"


class UnknownApprovalError(EngineError):
    """No approval has this id.

    Cause:
        The id is misspelt, or belongs to another project.

    Example:
        SH512 unknown approval 'ordrs'
          hint: see: streamhouse approvals --all

    Remedy:
        `streamhouse approvals --all` lists every approval, also those that were decided.
    """

    code = "SH512"

    def __init__(self, name: str, known: Collection[str], *, at: Location | None = None) -> None:
        super().__init__(
            f"unknown approval '{name}'", at=at, hint=did_you_mean(name, known, "see: streamhouse approvals --all")
        )


class ApprovalClosedError(EngineError):
    """The approval was decided already, or it expired.

    Cause:
        Another person decided first, or no person decided before the approval's end (seven days).

    Example:
        SH513 approval OLD expired at 2020-01-02 00:00:00 UTC
          hint: streamhouse trigger --once asks again, with what is known now

    Remedy:
        If the change is still there, `streamhouse trigger --once` asks again. A grant can be taken back only when
        what was granted failed.
    """

    code = "SH513"


class LeaseExpiredError(EngineError):
    """A lease was not renewed in time, so this process must not write: another one may.

    Cause:
        The state store did not answer, or the process was suspended, for longer than a lease lasts.

    Example:
        SH514 the lease of flow 'orders' was not renewed for 75 s
          hint: another runner may carry it by now; this one goes on when the state store says that none does

    Remedy:
        Nothing at once: the process asks the state store again. If it happens often, look at the database
        of the state store and at the load of the machine.
    """

    code = "SH514"
    retryable = True


class NotConfirmedError(EngineError):
    """A command would change what runs, and no person confirmed it.

    Cause:
        `streamhouse apply` asks before it changes a flow. It was started without a terminal and without `--yes`.

    Example:
        SH518 nothing was applied: there is no terminal to ask on, and --yes is not given
          hint: see what it does: streamhouse plan orders; then: streamhouse apply orders --yes

    Remedy:
        Read the plan, then add `--yes`.
    """

    code = "SH518"
    exit_code = 2


class RunnerHeldError(EngineError):
    """Another process is already the runner of this name.

    Cause:
        A runner was started twice, on this machine or on another one that uses the same state store.

    Example:
        SH520 runner 'main' is process 4711 on alpha, since 2026-03-01 12:00:00 UTC
          hint: see: streamhouse runner status

    Remedy:
        Use the runner that exists, or give the new one another `--name`.
    """

    code = "SH520"


class RunnerLostError(EngineError):
    """The runner of a flow ended without a message; the next one continues from the same positions.

    Cause:
        The process was killed, or its machine went down.

    Example:
        SH521 orders has no runner: process 4711 on alpha, last heard at 2026-03-01 12:00:00 UTC, does not live
          hint: the next run starts one, which goes on from the same positions

    Remedy:
        Airflow starts a new runner by itself. Otherwise: `streamhouse runner start FLOW`.
    """

    code = "SH521"
    retryable = True


class RunnerFailedError(EngineError):
    """A runner did not start, or ended by an error that belongs to no single flow.

    Cause:
        Spark's Java process ended, spark-submit failed, or a service that the runner needs did not start.

    Example:
        SH522 Spark's Java process ended (exit code -9)
          hint: start the runner again, it goes on from the same positions; Spark's log: .streamhouse/logs/spark.log

    Remedy:
        Read the log that the hint names, then start the runner again. Exit code -9 means that the
        operating system killed the process, usually for memory.
    """

    code = "SH522"


class NotCarriedError(EngineError):
    """A runner does not run the flows that a command names, or they do not end in time.

    Cause:
        The command names a flow that no runner was asked to run, flows of different runners, or a flow
        whose last epoch takes longer than the command waits.

    Example:
        SH523 no runner was ever asked for orders
          hint: see: streamhouse runner status

    Remedy:
        `streamhouse runner status` shows which runner runs which flow. Name the flows of one runner.
    """

    code = "SH523"


class CaptureFailedError(EngineError):
    """A capture, which reads the changes of a database, did not start or cannot go on.

    Cause:
        The database refuses: it does not keep its log for readers (`wal_level`, `log_bin`), the user may not
        replicate, a table is not there, has no key, or has a column of a type that cannot be captured.
        Or there is no session in the database, for a reason that does not end by itself: the certificate, the user,
        the password or the name of the database is wrong. Or the Java process of the capture ended.

    Example:
        SH525 connection 'shop': the database has wal_level=replica, so its changes cannot be read
          hint: ALTER SYSTEM SET wal_level = logical, then restart the server

    Remedy:
        Do what the hint says, then start the capture again: `streamhouse capture start NAME`. It goes on
        after the last change that its journal has; nothing is lost.
    """

    code = "SH525"


class SlotLostError(CaptureFailedError):
    """The database no longer has the changes after those in the journal of a capture.

    Cause:
        The replication slot was dropped, or the database gave it up because it kept more of its log than
        `max_slot_wal_keep_size` allows while the capture did not run. Or a MariaDB or MySQL server removed a
        part of its binlog that was not read yet. Changes in between are lost to the capture. It never takes a
        new snapshot by itself, because flows would not know.

    Example:
        SH526 connection 'shop': the replication slot streamhouse_shop_1_1f00 is gone
          hint: take a new snapshot with: streamhouse capture reset shop

    Remedy:
        `streamhouse capture reset NAME` removes the journal. The next start takes a new snapshot, and every
        flow that reads the connection asks a person what to do with its tables (`streamhouse approvals`).
    """

    code = "SH526"


class ForgetRefusedError(EngineError):
    """The rows of a person cannot be taken out of every table; nothing was changed.

    Cause:
        A table that was computed from the rows cannot be computed again without them, because its inputs
        dropped their old rows. Or several flows write it by parts. Or a flow runs, or has a change or an
        environment that is not done and holds copies of the rows.

    Example:
        SH528 dws.revenue cannot be made without these rows: it is computed from ods.sales, which has dropped its old rows
          hint: leave it as it is: --spare dws.revenue; it keeps what was computed from the person's rows

    Remedy:
        Do what the hint says, then repeat the command. `streamhouse forget ... --dry-run` shows every table
        and what would be done with it.
    """

    code = "SH528"
