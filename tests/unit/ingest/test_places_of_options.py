"""An error of a source stands at the option that is wrong, as a person wrote it."""

import pytest

from streamhouse.errors import SourceError
from streamhouse.ingest.kinds import open_source
from streamhouse.registry import Registry
from tests.tables import each

ACTION = """\
/* ---
action: take
step: ingest
inputs: {rows: {id: bigint}}
--- */
SELECT id FROM rows
"""
FLOW = """\
flow: shop
sources:
  orders:
    %s
steps:
  - {use: take, reads: {rows: orders}, writes: ods.orders}
"""
KAFKA = """kafka:
      servers: broker:9092
      topic: orders
      columns: {id: bigint}
      """
FILES = """files:
      columns: {id: bigint}
      """


@each(
    ("source", "line", "column"),
    [
        (KAFKA + "propertis: {}", 8, 7),
        (KAFKA + "start: yesterday", 8, 7),
        (KAFKA + "properties: {plugin.library.paths: x.so}", 8, 7),
        (KAFKA + "properties: {client.rack: a, ssl.ca.location: /etc/shadow}", 8, 36),
        (KAFKA + "properties:\n        client.rack: a\n        ssl.ca.location: /etc/shadow", 10, 9),
        (KAFKA + "secrets: {sasl.password: HOME}", 8, 17),
        (FILES + "path: nowhere/*.csv", 6, 7),
        (FILES + "path: ../x.csv", 6, 7),
        (FILES + "path: data/*.csv\n      separator: long", 7, 7),
        (FILES + "path: s3://bucket/x.csv\n      connection: none", 7, 7),
        ("cdc:\n      columns: {id: bigint}\n      primary_key: [id]\n      path: nowhere", 7, 7),
        ("replay: {package: streamhouse, table: t}", 4, 36),
        # no option that is written is wrong: the source itself
        (KAFKA.replace("topic: orders", "key: {}"), 3, 3),
        ("kafak: {}", 3, 3),
        ("files: {}", 3, 3),
    ],
)
def test_a_wrong_option(tmp_path, source, line, column):
    for name, text in {"actions/take.sql": ACTION, "flows/shop.yaml": FLOW % source}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "data").mkdir(exist_ok=True)
    flow = Registry.load(tmp_path).flow("shop")
    with pytest.raises(SourceError) as refused:
        open_source(flow.sources["orders"], tmp_path)
    assert (refused.value.at.line, refused.value.at.column) == (line, column), str(refused.value)
