"""Names of members in the JSON of Protocol Buffers.

https://protobuf.dev/programming-guides/json/: parsers accept the lowerCamelCase name of a field and
the name in its .proto file, `generationConfig` and `generation_config`.
"""

from __future__ import annotations

import re

_UNDERSCORE = re.compile(r"(?<=[a-z0-9])_([a-z0-9])")


def json_name(name: str) -> str:
    """The lowerCamelCase name of a field: `generation_config` -> `generationConfig`. A name without
    an underscore between letters is its own."""
    return _UNDERSCORE.sub(lambda match: match[1].upper(), name) if "_" in name else name
