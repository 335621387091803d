"""SH2xx: the definitions do not fit together: names, columns, types, cycles."""

from collections.abc import Collection

from streamhouse.errors.base import DefinitionError, Location, did_you_mean


class UnknownActionError(DefinitionError):
    """A step uses an action that no file defines.

    Cause:
        `use` names an action that is misspelt, has another version, or whose file is not under `actions/`.

    Example:
        flows/f.yaml:7:11: SH201 unknown action 'clean_line'
          hint: did you mean 'clean_lines'?

    Remedy:
        Correct the name. `streamhouse action list` lists every action with its versions.
    """

    code = "SH201"

    def __init__(self, name: str, known: Collection[str], *, at: Location | None = None) -> None:
        super().__init__(
            f"unknown action '{name}'",
            at=at,
            hint=did_you_mean(name, known, "see: streamhouse action list"),
        )


class UnknownColumnError(DefinitionError):
    """SQL, a key or a contract names a column that its input does not have.

    Cause:
        A column is misspelt, or the table that a step reads does not have a column that the action
        declares for its input. An upstream step may have dropped or renamed it.

    Example:
        flows/f.yaml:6:39: SH202 ods.lines has no column 'quantity', which port 'lines' of clean_lines needs
          hint: did you mean 'quantities'?

    Remedy:
        Correct the name, or add the column upstream. `streamhouse lineage TABLE` shows the columns of a
        table and where each comes from.
    """

    code = "SH202"


class TypeMismatchError(DefinitionError):
    """A column or a value has another type than the input or the parameter declares.

    Cause:
        A step reads a column whose type differs from the type that the action's `inputs` give, or a
        parameter, a default or an example has a value of another type.

    Example:
        actions/defaults_wrong.sql:7:36: SH203 parameter 'min_amount' is int, but its value is 'few'
          hint: give a default of type int

    Remedy:
        Convert the column upstream with CAST, or change the declared type.
    """

    code = "SH203"


class CyclicFlowError(DefinitionError):
    """Steps read each other's output, directly or through others.

    Cause:
        Table A is computed from table B, and B from A. No order of the steps exists.

    Example:
        flows/f.yaml:6:5: SH204 steps read each other's output: dwd.a → dwd.b → dwd.a
          hint: let one of them read a table upstream of both

    Remedy:
        Let one of the steps read a table that does not depend on the other.
    """

    code = "SH204"


class DuplicateWriterError(DefinitionError):
    """Two steps write one table.

    Cause:
        A table has one writer, so that its content follows from one query. An exception is
        `merge_engine: partial_update`, where each step writes columns of its own.

    Example:
        flows/f.yaml:6:54: SH205 two steps write dws.customers.cents
          hint: each column of a shared table has one writer

    Remedy:
        Join the two queries with UNION ALL in one action, write to two tables, or declare
        `merge_engine: partial_update` for the table.
    """

    code = "SH205"


class MissingParameterError(DefinitionError):
    """A parameter without a default has no value, or SQL uses a parameter that is not declared.

    Cause:
        The SQL has `:name`, and either the header's `params` does not declare `name`, or the step's
        `with` gives no value and there is no default.

    Example:
        actions/param_undeclared.sql:11:17: SH206 the SQL uses :min_amont, which is not declared
          hint: did you mean 'min_amount'?

    Remedy:
        Declare the parameter under `params`, or give it a value under `with` in the step.
    """

    code = "SH206"


class UnknownTableError(DefinitionError):
    """A file or a command names a table that no source, step or flow makes.

    Cause:
        The name of a table is misspelt, the step that writes it was removed, or the SQL of an action
        names a table instead of an input.

    Example:
        actions/table_unknown.sql:11:6: SH207 the SQL reads 'ods.customers', which is no input
          hint: read an input; the flow says which table it is

    Remedy:
        Correct the name, or add a step that writes the table. SQL of an action reads its inputs only.
    """

    code = "SH207"


class PortError(DefinitionError):
    """The `reads` of a step does not match the inputs of its action.

    Cause:
        The step leaves out an input of the action, names one that the action does not have, or writes
        to a layer that does not belong to the action's `step`.

    Example:
        flows/f.yaml:6:59: SH208 clean_lines is a clean action and writes dwd, not dws
          hint: write to dwd.lines, or change 'step' of the action

    Remedy:
        Give every input of the action one table under `reads`. `streamhouse action show NAME` prints the
        inputs of an action.
    """

    code = "SH208"


class DuplicateNameError(DefinitionError):
    """Two files define the same action or flow.

    Cause:
        Two files have the same `flow` name, or the same `action` name with the same version.

    Example:
        actions/b.sql:2:9: SH209 action 'twin' 1.0.0 is defined a second time; first at actions/a.sql:2:9
          hint: rename one of them, or give it another version

    Remedy:
        Rename one of them, or give the action another `version`.
    """

    code = "SH209"


class UntypedColumnError(DefinitionError):
    """The type of an output column cannot be derived without running the SQL.

    Cause:
        The SQL calls a function that Streamhouse does not know, or an expression whose type depends on
        data. Streamhouse needs every type before the first row, to create the table.

    Example:
        actions/numbers.sql:7:27: SH210 column 'nothing' is NULL, which no table can hold
          hint: write CAST(NULL AS type)

    Remedy:
        Write a CAST around the expression.
    """

    code = "SH210"


class StrategyError(DefinitionError):
    """A step names a strategy that its SQL does not allow, or no strategy can keep its result up to date.

    Cause:
        The result depends on the order of rows, on a clock or on random numbers, or the primary key
        cannot be derived from the SQL. Then an epoch that is repeated could give other rows. Or several groups
        may have one key, such as the total of a ROLLUP and the group of NULL.

    Example:
        flows/f.yaml:6:79: SH211 strategy 'merge' would give wrong rows: a table with several writers does not fold
          hint: leave 'strategy' out to have one chosen

    Remedy:
        Remove `strategy` from the step, declare `output.primary_key`, or rewrite the expression that the
        message names. `streamhouse plan --explain` shows the reason for each strategy.
    """

    code = "SH211"


class SourceError(DefinitionError):
    """A source is unknown, or what it names does not exist or cannot be read.

    Cause:
        The kind of a source is misspelt, a file, a topic or a Python package does not exist, or its
        content does not have the declared columns.

    Example:
        flows/orders.yaml:5:5: SH212 source 'orders' is of unknown kind 'kafak'
          hint: did you mean 'kafka'?

    Remedy:
        Correct the option that the message names. docs/sources.md describes every kind of source.

    Attributes:
        option: What is wrong, such as `path`, or `registry.url` of a mapping; empty: the source as a whole.
    """

    code = "SH212"
    option: str = ""


class UnknownFlowError(DefinitionError):
    """No file defines the flow that a command names.

    Cause:
        The name is misspelt, or the file is not under `flows/`.

    Example:
        SH213 unknown flow 'ordrs'
          hint: did you mean 'orders'?

    Remedy:
        Correct the name. `streamhouse flow list` lists every flow.
    """

    code = "SH213"

    def __init__(self, name: str, known: Collection[str], *, at: Location | None = None) -> None:
        super().__init__(
            f"unknown flow '{name}'",
            at=at,
            hint=did_you_mean(name, known, "see: streamhouse flow list"),
        )


class TierError(DefinitionError):
    """A table needs something that its tier cannot do.

    Cause:
        Only hot and warm tables can merge rows by key and report their changes. A table in the cold tier
        alone can do neither.

    Example:
        flows/f.yaml:8:3: SH214 dws.numbers is kept by merging, and the cold tier cannot merge
          hint: add a hot or warm tier, or write 'strategy: recompute' in the step

    Remedy:
        Add a hot or warm tier under `tables`. docs/tiers.md says what each tier can do.
    """

    code = "SH214"


class OutputColumnError(DefinitionError):
    """An output column has no name, or has the name of another column.

    Cause:
        An expression in SELECT has no AS, or two columns of the result have one name, often after
        `SELECT *` over a join.

    Example:
        actions/numbers.sql:7:19: SH215 output column 2 has no name
          hint: write SUM(quantity) AS name

    Remedy:
        Give each column a name of its own with AS.
    """

    code = "SH215"


class MergeEngineError(DefinitionError):
    """A table names a merge engine that its step, its tier or a column does not allow.

    Cause:
        A merge engine decides what happens to two rows with one key. Each needs something: a primary
        key, a `version_column`, or a query whose results can be added up.

    Example:
        flows/f.yaml:23:32: SH216 dwd.nameless is versioned, and nothing says by which column
          hint: add version_column; columns that could: cents, updated_at

    Remedy:
        Add what the hint names, or remove `merge_engine`: then Streamhouse chooses.
    """

    code = "SH216"


class PartitionError(DefinitionError):
    """A table names partitions that its columns or its key do not allow.

    Cause:
        `partition_by` names a column that is not part of the primary key, is the whole key, is also a
        bucket key, or has a type by which tables cannot be partitioned. Or it names a text, the table has a
        hot tier, and the text may be one by which Fluss names no partition, such as `São Paulo`.

    Example:
        flows/f.yaml:18:29: SH217 dws.spent is partitioned by its whole primary key, so each partition would have one row
          hint: leave a column of the key out of partition_by

    Remedy:
        Name a column of the key with few values, such as a date. docs/tiers.md has the rules.
    """

    code = "SH217"


class MeaningError(DefinitionError):
    """What a file says about the meaning of a table does not fit the table, or says nothing.

    Cause:
        A measure has the name of a column, a reference names a column that is not a key, or a time
        level is given to a column that is not a time. Or a text is blank, a word is there twice, or
        the levels of a dimension do not go from coarse to fine.

    Example:
        actions/clean_trips.sql:12:20: SH218 references names ods.stations.city, which is no key: several rows may have one value
          hint: the key of ods.stations is id

    Remedy:
        Correct the entry that the message names. docs/meaning.md describes the keys.
    """

    code = "SH218"


class ImportRefusedError(DefinitionError):
    """Tables of others cannot be imported, or the import would overwrite a file.

    Cause:
        `streamhouse import` names a connection that `streamhouse.yaml` does not have, a pattern matches no
        table, no table can be read, or the flow exists already. Or `streamhouse source infer --write` names a
        source that has `columns` already.

    Example:
        SH221 there is a flow 'shop' already
          hint: name the new one: --flow

    Remedy:
        Do what the hint says. An import never changes what a person wrote: to add a table to a flow, import
        it with `--dry-run`, and copy its lines.
    """

    code = "SH221"


class UnforeseenError(DefinitionError):
    """The analysis of one file failed because of a fault in Streamhouse.

    Cause:
        The SQL or YAML of the file has a form that the analysis does not handle. Other files are not
        affected.

    Example:
        actions/a.sql:7:1: SH220 action 'a' cannot be analysed: KeyError ('c')
          hint: rewrite it in another way, and report it with this text: the fault is ours

    Remedy:
        Write the query in another form, and report the message with the file.
    """

    code = "SH220"
