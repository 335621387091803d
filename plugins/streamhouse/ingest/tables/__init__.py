"""Tables that others own, as sources: they are read, and never written, expired or created.

`options` has what a flow says, `connections` where the tables are, `base` what a lake must answer, `sources` makes
rows of it. `iceberg`, `paimon` and `fluss` each read one kind of table.
"""
