"""Names of members in the JSON of Protocol Buffers."""

from engine.dialects.gemini.proto_json import json_name
from tests.support.each import each


@each(
    ("name", "expected"),
    [
        ("generation_config", "generationConfig"),
        ("max_output_tokens", "maxOutputTokens"),
        ("top_p", "topP"),
        ("sha256_hash", "sha256Hash"),
        ("_response_json_schema", "_responseJsonSchema"),
        ("generationConfig", "generationConfig"),
        ("$defs", "$defs"),
        ("", ""),
    ],
)
def test_a_name_of_a_proto_file_has_a_json_name(name, expected):
    assert json_name(name) == expected
