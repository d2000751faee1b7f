"""Keywords of schemas for agents."""

from engine.mcp.agent_keywords import adapt_bounds, adapt_format, copy_keyword
from engine.spec.document.schema_keywords import SOURCE_PATTERN
from tests.support.each import each


@each(
    ("keyword", "value", "copy"),
    [
        ("minLength", 3, {"minLength": 3}),
        ("minLength", "3", {}),
        ("maximum", 2**64 - 1, {"maximum": 2**64 - 1}),
        ("maximum", 2**64, {"maximum": 2.0**64}),
        ("enum", [2**70, "a"], {"enum": [2.0**70, "a"]}),
        ("const", -(10**400), {"const": -1e308}),
        ("type", ["string", "file"], {"type": "string"}),
        ("type", "file", {}),
        ("enum", [], {}),
        ("const", None, {"const": None}),
        ("deprecated", False, {}),
        ("default", "x" * 198, {"default": "x" * 198}),
        ("default", "x" * 199, {}),
        ("example", [1], {}),
        ("examples", ["x" * 200], {}),
        ("description", "<p>Hi\u200b</p>", {"description": "Hi"}),
        ("description", "<p></p>", {}),
        ("dependentRequired", {"a": ["b"]}, {"dependentRequired": {"a": ["b"]}}),
        ("xml", {"name": "x"}, {}),
    ],
)
def test_a_keyword_is_copied_if_agents_need_it(keyword, value, copy):
    schema = {}
    copy_keyword(schema, keyword, value)
    assert schema == copy


def test_the_pattern_of_the_document_is_the_one_that_agents_get():
    keywords = [(SOURCE_PATTERN, "^a"), ("pattern", "^b")]
    for order in (keywords, keywords[::-1]):
        schema = {}
        for keyword, value in order:
            copy_keyword(schema, keyword, value)
        assert schema == {"pattern": "^a"}


@each(
    ("value", "schema"),
    [
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"exclusiveMaximum": True}, {}),
        ({"exclusiveMaximum": 9}, {"exclusiveMaximum": 9}),
        ({"pattern": "(?<!a)b"}, {"pattern": "(?<!a)b"}),
        ({"pattern": "(?i)b"}, {}),
    ],
)
def test_bounds_and_patterns_are_those_of_2020_12(value, schema):
    copy = dict(value)
    adapt_bounds(value, copy)
    assert copy == schema


@each(
    ("name", "schema"),
    [
        ("uuid", {"format": "uuid"}),
        ("byte", {"contentEncoding": "base64"}),
        ("int64", {}),
    ],
)
def test_a_format_is_one_of_json_schema(name, schema):
    copy = {"format": name}
    adapt_format(copy)
    assert copy == schema
