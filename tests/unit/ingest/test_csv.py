"""CSV as people have it: what Spark 4.1.4 answered for each text, or a refusal with its line and a remedy."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.files import open_files
from streamhouse.ingest.files_options import FilesOptions
from streamhouse.ingest.inferred_columns import infer_files

TWO = {"a": "string", "b": "string"}


def write(folder, text, name="a.csv"):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def rows(folder, text, columns=None, **options):
    write(folder, text)
    source = open_files({"path": "a.csv", "columns": columns or TWO, **options}, folder)
    return [tuple(row.values()) for row in source.read({}, source.available()).to_pylist()]


def refusal(folder, text, columns=None, **options):
    with pytest.raises(SourceError) as refused:
        rows(folder, text, columns, **options)
    assert refused.value.hint, "a refusal has a remedy"
    return str(refused.value)


@pytest.mark.parametrize("word", ["NA", "N/A", "null", "NULL", "nan", "NaN", "None", "n/a", "\\N", "#N/A", "-"])
def test_words_are_text(tmp_path, word):
    assert rows(tmp_path, f"a,b\n1,{word}\n") == [("1", word)]
    assert rows(tmp_path, f'a,b\n1,"{word}"\n') == [("1", word)]
    assert rows(tmp_path, f"a,b\n1,{word}\n,{word}\n", null_value=word) == [("1", None), (None, None)]


def test_only_a_value_of_no_characters_is_null(tmp_path):
    assert rows(tmp_path, 'a,b\n1,\n2,""\n3, \n4,"" \n') == [("1", None), ("2", None), ("3", " "), ("4", None)]
    text = 'a,b\n1,NA\n2,"NA"\n3,\n4,""\n5,na\n'
    assert [b for _, b in rows(tmp_path, text, null_value="NA")] == [None, None, None, "", "na"]


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ('"say \\"hi\\""', 'say "hi"'),
        ('"a\\\\"', "a\\"),
        ('"a\\\\\\"b"', 'a\\"b'),
        ('"\\a\\"b\\c"', '\\a"b\\c'),
        ('"\\""', '"'),
        ('"a\\nb"', "a\\nb"),
        ('"x" ', "x"),
        ('"x"\t ', "x"),
        (' "x"', ' "x"'),
        ('x"y"', 'x"y"'),
        ("a\\b", "a\\b"),
        ('a\\"b', 'a\\"b'),
        ('a""b', 'a""b'),
        ("\\", "\\"),
        ('"a,b"', "a,b"),
        (" a ", " a "),
        ('"#x"', "#x"),
    ],
)
def test_quotes_as_spark_reads_them(tmp_path, value, read):
    assert rows(tmp_path, f"a,b\n1,{value}\n9,9\n") == [("1", read), ("9", "9")]
    assert rows(tmp_path, f"a,b\n{value},1\n9,9\n") == [(read, "1"), ("9", "9")]


@pytest.mark.parametrize(
    ("value", "what", "remedy"),
    [
        ('"say ""hi"""', '"" within a value in quotes', "escape: '\"'"),
        ('"""a"""', '"" within', "escape: '\"'"),
        ('"x"y', "text follows a closing quote", "quote: ''"),
        ('"1" "2"', "text follows a closing quote", "quote: ''"),
        ('"abc', "a quote is not closed", "quote: ''"),
        ('"C:\\dir\\"', "a quote is not closed", "mend the line"),
    ],
)
def test_quotes_of_which_spark_makes_something_else(tmp_path, value, what, remedy):
    found = refusal(tmp_path, f"a,b\n1,2\n\n1,{value}\n9,9\n")
    assert found.startswith("a.csv:4:1: SH212 ")
    assert what in found
    assert remedy in found


def test_doubled_quotes_and_other_quotes(tmp_path):
    text = 'a,b\n1,"say ""hi"""\n2,"a\\b"\n3,"a\\"\n4,""""\n5,"a,""b"" ,c"\n'
    read = ['say "hi"', "a\\b", "a\\", '"', 'a,"b" ,c']
    assert [b for _, b in rows(tmp_path, text, escape='"')] == read
    assert rows(tmp_path, "a,b\n1,'it\\'s, \"so\"'\n", quote="'") == [("1", 'it\'s, "so"')]
    assert rows(tmp_path, 'a,b\n1,"x"\n"1,2"\n', quote="") == [("1", '"x"'), ('"1', '2"')]
    assert rows(tmp_path, 'a,b\n1,"a\\"\n', escape="") == [("1", "a\\")]
    assert '"" is no value without an escape' in refusal(tmp_path, 'a,b\n1,""\n', escape="")


@pytest.mark.parametrize(("separator", "shown"), [(";", ";"), ("\t", "\\t"), ("|", "|")])
def test_a_file_with_another_separator(tmp_path, separator, shown):
    text = "id,name\n1,x\n".replace(",", separator)
    columns = {"id": "int", "name": "string"}
    for declared in (columns, {"other": "int"}):
        found = refusal(tmp_path, text, declared)
        assert found.startswith("a.csv:1:1: SH212 ")
        assert f"separator: '{shown}'?" in found
    with pytest.raises(SourceError, match=r"is one value") as refused:
        infer_files("a.csv", tmp_path)
    assert refused.value.hint == f"separator: '{shown}'?"
    assert rows(tmp_path, text, columns, separator=shown) == [(1, "x")]
    assert rows(tmp_path, f"a{separator}b\nx\n", {f"a{separator}b": "string"}) == [("x",)]


def test_a_separator_that_finds_some_columns_is_no_reason_for_another(tmp_path):
    assert rows(tmp_path, "a;b\n1;2\n", separator=";") == [("1", "2")]
    assert "separator: ','?" in refusal(tmp_path, "a,b\n1,2\n", separator=";")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(tmp_path, end):
    lines = ["", "a,b", "1,2", "", "  ", "\t", "3,4"]
    for last in ("", end):
        assert rows(tmp_path, end.join(lines) + last) == [("1", "2"), ("3", "4")]
        assert rows(tmp_path, "\ufeff" + end.join(lines) + last) == [("1", "2"), ("3", "4")]
    assert rows(tmp_path, f"a,b{end}") == []
    assert rows(tmp_path, "a,b") == []
    assert rows(tmp_path, end) == []


def test_line_ends_of_three_kinds(tmp_path):
    assert rows(tmp_path, "a,b\n1,2\r\n3,4\r5,6\n7,8") == [("1", "2"), ("3", "4"), ("5", "6"), ("7", "8")]


@pytest.mark.parametrize("size", [10, 1 << 20, 3 << 20])
@pytest.mark.parametrize("multi_line", [None, True])
def test_line_ends_within_quotes(tmp_path, size, multi_line):
    option = {} if multi_line is None else {"multi_line": multi_line}
    long = "x\n" * (size // 2)
    assert rows(tmp_path, f'a,b\n1,"{long}"\n2,3\n', **option) == [("1", long), ("2", "3")]
    many = f'1,"y\n{"z" * 90}"\n' * (size // 100)
    assert rows(tmp_path, f"a,b\n{many}", **option) == [("1", "y\n" + "z" * 90)] * (size // 100)


def test_line_ends_within_quotes_are_those_of_the_first_line(tmp_path):
    for multi_line in ({}, {"multi_line": True}):
        assert rows(tmp_path, 'a,b\r\n1,"x\r\ny"\r\n', **multi_line) == [("1", "x\ny")]
        assert rows(tmp_path, 'a,b\r\n1,"x\ny"\r\n', **multi_line) == [("1", "x\ny")]
        assert rows(tmp_path, 'a,b\n1,"x\r\ny"\n', **multi_line) == [("1", "x\r\ny")]
        assert rows(tmp_path, 'a,b\r1,"x\ry"\r', **multi_line) == [("1", "x\ny")]


def test_a_value_over_line_ends_of_which_each_may_be_a_row(tmp_path):
    text = 'a,b\n1,"x\n2,y"\n3,4\n'
    found = refusal(tmp_path, text)
    assert found.startswith("a.csv:2:1: SH212 a quote is closed in a later line, and each line may be a row")
    assert "multi_line: true" in found
    assert rows(tmp_path, text, multi_line=True) == [("1", "x\n2,y"), ("3", "4")]
    assert "each line may be a row" in refusal(tmp_path, 'a,b\r\n1,"x\r2,y"\r\n')
    assert "a quote is not closed" in refusal(tmp_path, text, multi_line=False)


def test_encodings(tmp_path):
    text = "a,b\n1,é\n"
    assert rows(tmp_path, text.encode("latin-1"), encoding="latin-1") == [("1", "é")]
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        name = encoding.replace("utf-16-", "utf-16")
        assert rows(tmp_path, text.encode(encoding), encoding=name) == [("1", "é")]
    found = refusal(tmp_path, b"a,b\n1,2\n1,x\xe9\n")
    assert found.startswith("a.csv:3:1: SH212 it is no UTF-8")
    assert "encoding:" in found
    assert "encoding: utf-16" in refusal(tmp_path, text.encode("utf-16"))
    assert "line 2 is no us-ascii" in refusal(tmp_path, text, encoding="us-ascii")


def test_rows_with_too_few_or_too_many_values(tmp_path):
    for line, has in (("1", "1 value"), ("1,2,3", "3 values"), ("1,2,", "3 values"), ('1,"2",', "3 values")):
        found = refusal(tmp_path, f"a,b\n\n9,9\n{line}\n")
        assert found.startswith(f"a.csv:4:1: SH212 the row has {has}, and the first line names 2")


def test_columns_by_name_in_any_order_and_case(tmp_path):
    assert rows(tmp_path, "B,x,A\n1,2,3\n") == [("3", "1")]
    assert rows(tmp_path, '"b",,"A"\n1,2,3\n', {"A": "int", "B": "int", "_c1": "int"}) == [(3, 1, 2)]
    for header, twice in (("a,b,a", "'a' twice"), ("a,b,A", "'A' twice, once as 'a'")):
        found = refusal(tmp_path, f"{header}\n1,2,3\n")
        assert found.startswith(f"a.csv:1:1: SH212 the first line names {twice}")
    found = refusal(tmp_path, "id, nmae\n1,2\n", {"id": "int", "name": "string"})
    assert "a.csv:1:1: SH212 a column is absent: the first line does not name 'name'" in found
    assert "did you mean ' nmae'?" in found
    assert "none of the columns: the first line names x, y" in refusal(tmp_path, "x,y\n1,2\n")


def test_a_file_without_names(tmp_path):
    assert rows(tmp_path, "1,2\n3,4\n", header=False) == [("1", "2"), ("3", "4")]
    assert "has 3 values, and 2 columns are declared" in refusal(tmp_path, "1,2,3\n", header=False)
    assert "separator: ';'?" in refusal(tmp_path, "1;2\n", header=False)
    write(tmp_path, "1,x\n2,y\n")
    source = open_files({"path": "a.csv", "header": False}, tmp_path)
    assert [(c.name, c.type) for c in source.columns()] == [("_c0", "bigint"), ("_c1", "string")]
    assert source.read({}, source.available()).num_rows == 2


def test_comments(tmp_path):
    assert rows(tmp_path, "a,b\n#x,1\n") == [("#x", "1")]
    text = '#c\na,b\n#x,1\n #y,1\n"#z",1\n1,#\n'
    assert rows(tmp_path, text, comment="#") == [(" #y", "1"), ("#z", "1"), ("1", "#")]
    assert rows(tmp_path, 'a,b\n#x\n1,"y\n#z"\n', comment="#") == [("1", "y\n#z")]


VALUES = [
    ("int", "+1", 1),
    ("int", "-2147483648", -(2**31)),
    ("int", "2147483648", None),
    ("int", " 1", None),
    ("int", "0x1F", None),
    ("int", "1.0", None),
    ("boolean", "tRuE", True),
    ("boolean", "1", None),
    ("boolean", "yes", None),
    ("double", " 1.5 ", 1.5),
    ("double", "-Inf", float("-inf")),
    ("double", "Infinity", float("inf")),
    ("double", "inf", None),
    ("double", "nan", None),
    ("double", "1e400", None),
    ("double", "1,5", None),
    ("float", "1e39", None),
    ("decimal(5,2)", "1.5e1", Decimal("15.00")),
    ("decimal(5,2)", "1.500", Decimal("1.50")),
    ("decimal(5,2)", "1.005", None),
    ("decimal(5,2)", "1000", None),
    ("date", "2020-1-2", date(2020, 1, 2)),
    ("date", "0001-01-01", date(1, 1, 1)),
    ("date", "9999-12-31", date(9999, 12, 31)),
    ("date", "10000-01-01", None),
    ("date", "0000-01-01", None),
    ("date", "2020-02-30", None),
    ("date", "2020-01-02 10:00:00", None),
    ("timestamp", "2020-01-02 03:04:05 UTC", datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)),
    ("timestamp", "2020-01-02T03:04:05 -0800", datetime(2020, 1, 2, 11, 4, 5, tzinfo=UTC)),
    ("timestamp", "0001-01-01 00:00:00", datetime(1, 1, 1, tzinfo=UTC)),
    ("timestamp", "0001-01-01 00:00:00+00:01", None),
    ("timestamp", "9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
    ("timestamp", "9999-12-31T23:59:59-00:01", None),
    ("timestamp", "294247-01-10 04:00:54.775807", None),
    ("timestamp", "12:30:00", None),
    ("timestamp", "1577966400", None),
    ("timestamp_ntz", "9999-12-31 23:59:59.999999", datetime(9999, 12, 31, 23, 59, 59, 999999)),
    ("timestamp_ntz", "2020-01-02T03:04:05+01:00", None),
    ("binary", "a\\x", b"a\\x"),
]


@pytest.mark.parametrize(("type_", "text", "value"), VALUES)
def test_values_of_types(tmp_path, type_, text, value):
    lines = f'n,v\n1,\n2,"{text}"\n3,""\n'
    columns = {"v": type_}
    if value is not None:
        assert rows(tmp_path, lines, columns) == [(None,), (value,), (None,)]
        return
    found = refusal(tmp_path, lines, columns)
    assert found.startswith(f"a.csv:3:1: SH212 column 'v' is no {type_}: '{text}'\n  hint: ")
    dead = open_files({"path": "a.csv", "columns": columns, "on_bad_rows": "dead_letter"}, tmp_path)
    split = dead.read_split({}, dead.available())
    assert (split.rows.num_rows, [bad.letter.position for bad in split.bad]) == (2, ["a.csv:3"])
    assert split.bad[0].message == f"column 'v' is no {type_}: '{text}'"


def test_nan_is_a_number(tmp_path):
    [(value,)] = rows(tmp_path, "v,w\nNaN,1\n", {"v": "double"})
    assert value != value


def test_remedies(tmp_path):
    for text, type_, remedy in (
        ("NA", "int", "null_value: 'NA'"),
        ("1,5", "double", "decimal: ','"),
        (" 1", "int", "spaces around"),
        ("31.01.2026", "date", "date_format"),
        ("1/2/2026 10:00", "timestamp", "timestamp_format"),
        ("3000000000", "int", "wider type"),
    ):
        assert remedy in refusal(tmp_path, f'v,w\n"{text}",1\n', {"v": type_})


@pytest.mark.parametrize(
    ("decimal", "type_", "text", "remedy"),
    [
        (",", "decimal(9,2)", "-1.050,00", "'.' separates thousands, and no number may have it: "),
        (
            ",",
            "decimal(9,2)",
            "-1.050,00",
            "CAST(replace(replace(v, '.', ''), ',', '.') AS decimal(9,2)) in the action",
        ),
        (",", "double", "1.234.567,5", "'.' separates thousands"),
        (",", "decimal(9,2)", "1.050", "decimal: '.', if the point begins the fraction; if it separates thousands, "),
        (",", "decimal(9,2)", "1,050.00", "CAST(replace(v, ',', '') AS decimal(9,2))"),
        (",", "int", "1.050", "'.' separates thousands"),
        (",", "decimal(9,2)", "1.5", "decimal: '.', if the point begins the fraction"),
        (",", "decimal(9,2)", "1,505", "declare a decimal with more digits"),
        (",", "decimal(9,2)", "+5,00", "Spark's reader takes no + before a decimal with a comma; mend the file"),
        (".", "decimal(9,2)", "1.050,00", "'.' separates thousands"),
        (".", "decimal(9,2)", "1,050.00", "CAST(replace(v, ',', '') AS decimal(9,2))"),
        (".", "decimal(9,2)", "1,050", "decimal: ',', if the comma begins the fraction; if it separates thousands, "),
        (".", "double", "1,050,000", "',' separates thousands"),
        (".", "decimal(9,2)", "1'050.00", "CAST(replace(v, '''', '') AS decimal(9,2))"),
        (".", "int", "1 050", "' ' separates thousands"),
        (".", "bigint", "1\u202f050", "'\u202f' separates thousands"),
        (".", "decimal(9,2)", "1.055", "declare a decimal with more digits"),
        (".", "decimal(9,2)", "1.5 EUR", "mend the file, or declare the column as string and convert it in the action"),
        (".", "int", "1050.", "wider type"),
    ],
)
def test_remedies_of_numbers(tmp_path, decimal, type_, text, remedy):
    assert remedy in refusal(tmp_path, f"v;w\n{text};1\n", {"v": type_}, separator=";", decimal=decimal)


@pytest.mark.parametrize("text", ["+5,00", "1,5e3", "1,5E+3"])
def test_decimals_with_a_comma_that_spark_does_not_read(tmp_path, text):
    columns = {"a": "decimal(9,2)"}
    assert "no decimal(9,2)" in refusal(tmp_path, f"a;b\n{text};1\n", columns, separator=";", decimal=",")


def test_numbers_with_a_comma(tmp_path):
    columns = {"a": "decimal(9,2)", "b": "double"}
    read = rows(tmp_path, "a;b\n1,5;-2,25\n3;,5\n", columns, separator=";", decimal=",")
    assert read == [(Decimal("1.50"), -2.25), (Decimal("3.00"), 0.5)]
    for text in ("1.5", "1.234,5"):
        assert "no decimal(9,2)" in refusal(tmp_path, f"a;b\n{text};1\n", columns, separator=";", decimal=",")


APACHE = "dd/MMM/yyyy:HH:mm:ss Z"


@pytest.mark.parametrize(
    ("type_", "written", "text", "value"),
    [
        ("date", "dd.MM.yyyy", "02.01.2020", date(2020, 1, 2)),
        ("date", "dd.MM.yyyy", "2.1.2020", None),
        ("date", "dd.MM.yyyy", "2020-01-02", None),
        ("date", "M/d/yyyy", "1/2/2020", date(2020, 1, 2)),
        ("date", "M/d/yyyy", "2/30/2020", None),
        ("date", "yyyyMMdd", "20200102", date(2020, 1, 2)),
        ("date", "dd-MMM-yyyy", "02-jan-2020", date(2020, 1, 2)),
        ("date", "MM/dd/yy", "01/02/99", date(2099, 1, 2)),
        ("timestamp", "dd.MM.yyyy HH:mm", "02.01.2020 03:04", datetime(2020, 1, 2, 3, 4, tzinfo=UTC)),
        ("timestamp", "M/d/yyyy h:mm a", "1/2/2020 12:30 AM", datetime(2020, 1, 2, 0, 30, tzinfo=UTC)),
        ("timestamp", "M/d/yyyy h:mm a", "1/2/2020 1:30 pm", datetime(2020, 1, 2, 13, 30, tzinfo=UTC)),
        ("timestamp", "M/d/yyyy h:mm a", "1/2/2020 13:30 pm", None),
        (
            "timestamp",
            "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
            "2020-01-02T03:04:05.6+01:00",
            datetime(2020, 1, 2, 2, 4, 5, 600_000, tzinfo=UTC),
        ),
        ("timestamp", "yyyy-MM-dd HH:mm:ss[.SSSSSS]", "2020-01-02 03:04:05", datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("timestamp", "yyyy-MM-dd", "2020-01-02", datetime(2020, 1, 2, tzinfo=UTC)),
        ("timestamp", APACHE, "17/May/2015:10:05:03 +0000", datetime(2015, 5, 17, 10, 5, 3, tzinfo=UTC)),
        ("timestamp", APACHE, "17/May/2015:10:05:03 -0730", datetime(2015, 5, 17, 17, 35, 3, tzinfo=UTC)),
        ("timestamp", APACHE, "17/May/2015:10:05:03 +1801", None),
        ("timestamp", APACHE, "17/May/2015:10:05:03 Z", None),
        ("timestamp", APACHE, "17/May/2015:10:05:03 +02:00", None),
        ("timestamp", "yyyy-MM-dd'T'HH:mmZZZ", "2020-01-02T03:04+0100", datetime(2020, 1, 2, 2, 4, tzinfo=UTC)),
        ("timestamp", "yyyy-MM-dd'T'HH:mmxxx", "2020-01-02T03:04+01:00", datetime(2020, 1, 2, 2, 4, tzinfo=UTC)),
        ("timestamp", "yyyy-MM-dd'T'HH:mmxx", "2020-01-02T03:04Z", None),
    ],
)
def test_formats(tmp_path, type_, written, text, value):
    option = {f"{type_}_format": written}
    if value is None:
        assert f"no {type_}: '{text}'" in refusal(tmp_path, f"v,w\n{text},1\n", {"v": type_}, **option)
    else:
        assert rows(tmp_path, f"v,w\n{text},1\n", {"v": type_}, **option) == [(value,)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": "||"}, "option 'separator' of files: '||' is not one character of ASCII"),
        ({"separator": ""}, "option 'separator' of files: it needs one character"),
        ({"quote": ","}, "'quote' and 'separator' are both ','"),
        ({"comment": '"'}, "'comment' and 'quote' are both"),
        ({"decimal": ","}, "'decimal' and 'separator' are both ','"),
        ({"encoding": "cp1252"}, "option 'encoding' of files: 'cp1252' is none of utf-8, us-ascii"),
        ({"encoding": "cp1250"}, "convert the file: iconv -f cp1250 -t utf-8 FILE > NEW"),
        ({"encoding": "utf-16", "multi_line": False}, "multi_line: true"),
        ({"date_format": "dd.mm.yyyy"}, "option 'date_format' of files: 'dd.mm.yyyy' needs one month"),
        ({"date_format": "QQ yyyy"}, "'QQ' in 'QQ yyyy' is not taken"),
        ({"date_format": "dd.MM.yyyy HH"}, "has a time of day"),
        ({"timestamp_format": "yyyy-MM-dd HH:mm ZZZZ"}, "'ZZZZ' in 'yyyy-MM-dd HH:mm ZZZZ' is not taken; known: "),
        ({"timestamp_format": "dMyyyy"}, "nothing in 'dMyyyy' says where 'd' ends"),
        ({"timestamp_format": "dd.MM.yyyy hh:mm"}, "needs h with a"),
        ({"timestamp_format": "dd.MM.yyyy [HH:mm"}, "a bracket too many"),
        ({"delimiter": ";"}, "unknown option 'delimiter' of files"),
        ({"columns": {"a": "int", "A": "int"}}, "case makes no difference"),
        ({"path": "a.json", "separator": ";"}, "'separator' is an option of csv, and the files are json"),
        ({"path": "a.parquet", "header": True}, "'header' is an option of csv, and the files are parquet"),
    ],
)
def test_options_are_checked(tmp_path, options, message):
    write(tmp_path, "a\n", "a.json")
    write(tmp_path, "a\n", "a.csv")
    with pytest.raises(SourceError) as refused:
        open_files({"path": "a.csv"} | options, tmp_path)
    assert message in str(refused.value)


def test_dead_letters_go_with_every_option(tmp_path):
    lines = ["# c", "id;v", '1;"a ""b"""', '2;"c', 'd"', '3;"e', "4;x;y", "x;f", "5;g"]
    write(tmp_path, "\r\n".join(lines))
    options = {"separator": ";", "escape": '"', "comment": "#", "columns": {"id": "int", "v": "string"}}
    source = open_files({"path": "a.csv", "on_bad_rows": "dead_letter", **options}, tmp_path)
    split = source.read_split({}, source.available())
    assert split.rows.to_pylist() == [{"id": 1, "v": 'a "b"'}, {"id": 2, "v": "c\nd"}, {"id": 5, "v": "g"}]
    assert [(bad.letter.position, bad.reason) for bad in split.bad] == [
        ("a.csv:6", "malformed"),
        ("a.csv:7", "malformed"),
        ("a.csv:8", "type"),
    ]
    again = source.read_again([bad.letter for bad in split.bad], None)
    assert [bad.reason for bad in again.bad] == ["malformed", "malformed", "type"]


def test_inferred_columns_follow_the_options(tmp_path):
    write(tmp_path, "id;n;day;w\n1;1,5;02.01.2020;NA\n2;;03.01.2020;x\n")
    options = {"separator": ";", "date_format": "dd.MM.yyyy", "null_value": "NA"}
    source = open_files({"path": "a.csv", **options}, tmp_path)
    assert {c.name: c.type for c in source.columns()} == {"id": "bigint", "n": "string", "day": "date", "w": "string"}
    assert source.read({}, source.available()).column("w").to_pylist() == [None, "x"]


def test_a_file_that_lacks_columns_is_told_once(tmp_path):
    write(tmp_path, "a,b,c\n1,2,3\n4,5,6\n", "1.csv")
    write(tmp_path, "C,b\n7,8\n", "2.csv")
    write(tmp_path, "b\n9\n", "3.csv")
    for options in ({}, {"on_bad_rows": "dead_letter"}):
        source = open_files({"path": "*.csv", **options}, tmp_path)
        end = source.available()
        assert [*source.lacking({}, end)] == [
            "2.csv lacks the column a: it is NULL in its rows",
            "3.csv lacks the columns a, c: they are NULL in its rows",
        ]
        assert [*source.lacking({"1.csv": 1, "2.csv": 1}, end)] == [
            "3.csv lacks the columns a, c: they are NULL in its rows"
        ]
        assert [*source.lacking(end, end)] == []
        assert source.read({}, end).column("a").to_pylist() == [1, 4, None, None]


def test_a_declared_column_that_a_file_lacks_is_null(tmp_path):
    write(tmp_path, "a,c\n1,2\n")
    source = open_files({"path": "a.csv", "columns": TWO}, tmp_path)
    assert source.read({}, source.available()).to_pylist() == [{"a": "1", "b": None}]
    assert [*source.lacking({}, {"a.csv": 1})] == ["a.csv lacks the column b: it is NULL in its rows"]


def test_a_file_that_has_no_column_of_its_source_is_refused(tmp_path):
    write(tmp_path, "a,b\n1,2\n", "1.csv")
    write(tmp_path, "x,y\n1,2\n", "2.csv")
    with pytest.raises(SourceError, match=r"2\.csv:1:1: SH212 the file has none of the columns: .* names x, y"):
        open_files({"path": "*.csv"}, tmp_path).available()


def test_a_first_line_of_any_length(tmp_path):
    names = [f"column_{n}" for n in range(20_000)]
    write(tmp_path, ",".join(names) + "\n" + ",".join(map(str, range(20_000))) + "\n")
    source = open_files({"path": "a.csv"}, tmp_path)
    assert [c.name for c in source.columns()] == names


def test_the_command_infers_what_the_options_say(tmp_path):
    write(tmp_path, "id;n;day;at;w\n1;1,5;02.01.2020;02.01.2020 10:30;x\n2;;;;1,5 m\n")
    options = {"separator": ";", "decimal": ",", "date_format": "dd.MM.yyyy", "timestamp_format": "dd.MM.yyyy HH:mm"}
    rules = FilesOptions.model_validate({"path": "a.csv", **options}).csv
    found = infer_files("a.csv", tmp_path, rules=rules)
    assert {c.name: c.type for c in found.columns} == {
        "id": "bigint",
        "n": "decimal(18,1)",
        "day": "date",
        "at": "timestamp",
        "w": "string",
    }


def test_nul_is_text_where_there_are_quotes(tmp_path):
    assert rows(tmp_path, "a,b\n1,x\0y\n") == [("1", "x\0y")]
    for option in ({"quote": ""}, {"escape": ""}):
        assert "character NUL" in refusal(tmp_path, "a,b\n1,x\0y\n", **option)


@pytest.mark.parametrize("first", ["\r\n", "\r"])
def test_records_that_end_in_two_ways_where_values_go_over_line_ends(tmp_path, first):
    text = f"a,b{first}1,2\n3,4{first}"
    found = refusal(tmp_path, text, multi_line=True)
    assert found.startswith("a.csv:2:1: SH212 line 2 ends in another way than the first one")
    assert refusal(tmp_path, text, multi_line=True, on_bad_rows="dead_letter") == found
    assert refusal(tmp_path, f'{text}5,"x\ny"{first}') == found
    assert rows(tmp_path, text) == [("1", "2"), ("3", "4")]
    assert rows(tmp_path, f'a,b{first}1,"x\ny"{first}', multi_line=True) == [("1", "x\ny")]
