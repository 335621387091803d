"""Edits of YAML that a person wrote, as text: comments, order and layout of all else stay as they are.

`with_value` sets one key, `with_added` adds keys, `with_item` adds to a list. Each reads back what it made, and refuses
a text in which nothing else could stay as it is. `write` has the ways to write values.
"""

from streamhouse.registry.yaml_edits.add import with_added
from streamhouse.registry.yaml_edits.append import with_item
from streamhouse.registry.yaml_edits.set_value import with_value

__all__ = ["with_added", "with_item", "with_value"]
