"""Files of Protobuf that schemas import and a registry does not list: those of Confluent's converter."""

_OPTIONS = ("file", "message", "field", "enum", "enum_value")
_EXTENSIONS = "\n".join(
    f"extend google.protobuf.{name.title().replace('_', '')}Options {{ Meta {name}_meta = 1088; }}" for name in _OPTIONS
)

KNOWN = {
    "confluent/meta.proto": f"""
syntax = "proto3";
package confluent;
import "google/protobuf/descriptor.proto";
message Meta {{ string doc = 1; map<string, string> params = 2; repeated string tags = 3; }}
{_EXTENSIONS}
""",
    "confluent/type/decimal.proto": """
syntax = "proto3";
package confluent.type;
message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }
""",
    "google/type/date.proto": """
syntax = "proto3";
package google.type;
message Date { int32 year = 1; int32 month = 2; int32 day = 3; }
""",
    "google/type/timeofday.proto": """
syntax = "proto3";
package google.type;
message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }
""",
}
"""Name, as schemas import it → text."""

META = "confluent.field_meta"
"""Extension with what Kafka Connect notes of a field, such as the scale of a decimal."""
