"""Forms of values in JSON, by the type of the column that they are put into."""

import json

from tests.random_json import DAYS, FRACTIONS, INTEGERS, SCALARS, TEXTS, TIMES, WORDS

_MIXED = (
    *INTEGERS,
    *FRACTIONS,
    *WORDS,
    '""',
    '"x"',
    "[]",
    "{}",
    "[1,  2]",
    '{"b": 1,  "c":[1, 2 ]}',
    "'q'",
    '"\\ud800"',
    '"\\ude00\\ud83d"',
    '"\\ud83d\\ude00"',
    '"x\ty"',
    '"\\x41"',
    '"\\/\\b\\f"',
    '"\\\'"',
    "{'b':1}",
    "1x",
    "[1",
    "-",
    "1e",
    "[" * 998 + "]" * 998,
    "[" * 999 + "]" * 999,
    "[" * 1001 + "]" * 1001,
    "1" * 999,
    "1" * 1001,
)
_QUOTED = tuple(json.dumps(text) for text in (*TEXTS, *DAYS, *TIMES))
_SIMPLE = (*SCALARS, "decimal(38,0)")
VALUES: dict[str, tuple[str, ...]] = dict.fromkeys(_SIMPLE, (*_MIXED, *_QUOTED))
VALUES |= {
    "struct<b:int,c:string>": (
        '{"b":1}',
        '{"b":1,"b":2}',
        '{"c":{"x": 1}}',
        '{"d":1}',
        "{}",
        "[]",
        '[{"b":1}]',
        '"x"',
        "null",
        '{"B":1}',
        '{"b":"x"}',
        '{"b":null}',
        "[1]",
        '""',
    ),
    "array<int>": ("[1,null,2]", "[]", "{}", '{"b":1}', "1", "null", "[[1]]", "[1.5]", "[1,]", "[,1]", "[1 2]"),
    "array<string>": ('["x",1,{"b": 2},[3 ],null]',),
    "map<string,int>": (
        '{"x":1,"y":null}',
        "{}",
        "[]",
        '[{"key":"x","value":1}]',
        '{"x":1,"x":2}',
        '{"":1}',
        "1",
        "null",
        '{"x":"y"}',
    ),
    "map<string,string>": ('{"x":{"b": 1 }}', '{"x":[ ]}'),
    "array<timestamp>": ('["2020-01-02T10:05:06+01:00", 5, null]',),
    "map<string,decimal(20,2)>": ('{"x":123456789012345678.91}',),
    "array<float>": ("[1.00000017881393432617187501, 1.00000017881393432617187499, NaN, -0, 3.4e39]",),
}
