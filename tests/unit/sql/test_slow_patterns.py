"""Regular expressions that can take exponential time are refused, and usual ones are not."""

import pytest
from sqlglot import parse_one

from streamhouse.sql.admit import QUERY_FUNCTIONS, refused_calls
from streamhouse.sql.slow_patterns import why_slow

SLOW = (
    *(r"(a+)+b", r"(a*)*b", r"(a|a)+$", r"(a|aa)+$", r"(\w+\s?)*$", r"(.*,)*x", r"^(([a-z])+.)+[A-Z]([a-z])+$"),
    *(r"(\d{1,2}:?)+$", r"(x+x+)+y", r"^(\w+)*@", r"(a|b|ab)*c", r"(?:\p{L}+)*!", r"(a{1,20}){1,20}b", r"(?=(a+)+b)a"),
    *(r"(?<name>a+)+$", r"(a+?)+b", r"((a+)b?)+$", r"(\s*\S*)*x", r"([^x]|y)*z", r"(?i)(a+)+b"),
)
QUICK = (
    *(r"(\w+\s)*$", r"\d{4}-\d{2}-\d{2}", r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}$", r"(a|b)*c"),
    *(r"^(\d{1,3}\.){3}\d{1,3}$", r"(\d{2}){3}", r".*foo.*bar.*", r"^https?://([^/]+)/(.*)$", r"([^,]*,)*[^,]*$"),
    *(r"^\s*(\S+(\s+\S+)*)\s*$", r"(a+b)+", r"[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{12}", r"^([a-z]+\.)*[a-z]+$"),
    *(r"a++b", r"(?>a+)+b", r"(\d{1,2}:?){1,3}", r"", r"(", r"%a%", r"(ab)+", r"(\\.|[^\\])*", r"\p{Lu}\p{Ll}+"),
)


SLOW_IN_JAVA = (  # what Python's reader of expressions refuses, or takes for something else
    *(r"(a|a)*?b", r"^(?:a|a)*(.)\1$", r"(?:\w|\d)*?x", r"(?:a|[ab])*c", r"(?s)(?:.|\n)*x", r"(?i)(?:a|A)*b"),
    *(r"(?:a|a)*?b\z", r"\G(?:a|a)*?b", r"(?d)(?:a|a)*?b", r"(?-i)(?:a|a)*?b", r"(?:(?i)a|A)*?b", r"(?x)( a | a )*b"),
    *(r"(?:\p{Lower}|a)*?b", r"(?:[\p{L}]|a)*?b", r"(?:[^\p{L}]|1)*?b", r"(?:\P{L}|1)*?b", r"(?:\p{IsHan}|\p{L})*?b"),
    *(r"(?:\x{61}|a)*b", r"(?:\0141|a)*b", r"(?:\e|\x1b)*?b", r"(?:\H|a)*?b", r"(?:\v|\n)*?b", r"(?:\X|a)*?b"),
    *(r"(?:[a-z[A]]|a)*b", r"(?:[a&&[a-z]]|a)*b", r"(?:a|a)*?b(?<n>c)\k<n>", r"(?<x>a|a)*\k<x>b", r"(?:\Qa\E|a)*?b"),
    *(r"(?>(?:a|a)*?b)c", r"(?:(?>a)|a)*?b", r"(a)(?:\1|a)*?b", r"(?:a|a)*+b", r"(?:a|a)*?b" + "b" * 100),
    *("(?:\U0001f600|\U0001f600)*?b", "(?:\u4e00|[\u4e00-\u9fff])*?b", r"(?:\uD83D\uDE00|\x{1F600})*?b"),
    *(r"(a|a){30}b", r"(a?){30}a{30}", "a?" * 40 + "a" * 40, "(?:a|a)" * 30 + "b", r"((a|a){9}){9}b", "(?:ab|ab)" * 40),
    *("(" * 5000 + "a" + ")" * 5000, "(?:" + "|".join(["[a-z]{1,9}[0-9]"] * 200) + ")*"),
)
QUICK_IN_JAVA = (  # repetitions that are written out are tried one behind the other
    *(
        r"(\d{1,3}\.)+",
        r"(x{0,3}y)*",
        r"(?:.|\n)*x",
        r"(?:\w|-)+",
        r"\p{Lu}(?:\p{Ll}+\P{L})*",
        r"\Q(a+)+\E",
        r"(a+)\1+b",
    ),
    *(",".join(["(.*)"] * 10), ",".join(["([^,]*)"] * 60), "|".join(f"word{at}" for at in range(300)), r"(.)\1{3,}"),
    *(r"^(?=.*[A-Z])(?=.*\d)[A-Za-z\d]{8,}$", r"(?:(?:25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}\d+", r"[]a-]+", r"a{2}{3}"),
    *(r"\b\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\b", r"(?x) a + # (b+)+", r"['\"](?:\\.|[^'\"\\])*['\"]", r"\p{No such}"),
    *("(a+)+b)", "(?<=(a+)+", "[b-a]", r"\i", "*(a+)+", r"a{3,2}", "\\", r"\N{NO SUCH LETTER}", "[a"),  # none of Java's
)


def test_each_expression_is_judged():
    assert [one for one in (*SLOW, *SLOW_IN_JAVA) if not why_slow(one)] == []
    assert [one for one in (*QUICK, *QUICK_IN_JAVA) if why_slow(one)] == []


@pytest.mark.parametrize(
    "call",
    [
        "s RLIKE {}",
        "s REGEXP {}",
        "regexp_like(s, {})",
        "regexp(s, {})",
        "rlike(s, {})",
        "regexp_replace(s, {}, '')",
        "regexp_extract(s, {}, 1)",
        "regexp_extract_all(s, {}, 1)",
        "regexp_count(s, {})",
        "regexp_instr(s, {})",
        "regexp_substr(s, {})",
        "split(s, {})",
        "split(s, {}, 2)",
        "str_to_map(s, {})",
        "str_to_map(s, ',', {})",
        "s RLIKE concat('^', {})",
        "s RLIKE ANY ('x', {})",
        "s RLIKE CAST({} AS STRING)",
        "s RLIKE coalesce(NULL, {})",
        "s RLIKE if(s = 'x', 'y', {})",
        "s RLIKE CASE WHEN s = 'x' THEN {} END",
        "s RLIKE ('^' || {})",
        "parse_url(s, 'QUERY', {})",
        "try_parse_url(s, 'QUERY', {})",
    ],
)
def test_each_call_that_takes_one_is_looked_at(call):
    def found(pattern):
        tree = parse_one(f"SELECT {call.format(pattern)} FROM t", dialect="spark")
        return [one for one in refused_calls(tree.walk(), QUERY_FUNCTIONS) if "exponential" in one.message]

    assert found("'(a+)+b'")
    assert found("r'(a+)+b'")
    assert not found("'a+b'")
    assert not found(":pattern"), "it is looked at when it has its value"
    for of_rows in ("p", "(SELECT max(p) FROM q)", "upper(p)", "p.q[0]"):
        assert not found(of_rows), "it is not known before there are rows"


def test_one_that_is_put_together_is_judged_as_a_whole():
    tree = parse_one("SELECT s RLIKE concat('(a', '+)+b') FROM t", dialect="spark")
    assert list(refused_calls(tree.walk(), QUERY_FUNCTIONS))


def test_many_choices_side_by_side_are_judged_by_their_parts():
    choice = "if(b, 'x', {})"
    for slow, part in ((True, "'(a+)+b'"), (False, "'y'")):
        sql = f"SELECT s RLIKE concat({', '.join([choice.format(part)] * 60)}) FROM t"
        assert bool(list(refused_calls(parse_one(sql, dialect="spark").walk(), QUERY_FUNCTIONS))) is slow
