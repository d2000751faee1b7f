"""Every style of a parameter, read back from the wire."""

import json
import string
from contextlib import suppress
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.exchange.exchange import MISSING
from engine.spec.parameters.parameter_readers import compile_reader
from engine.spec.parameters.query_string import Query
from engine.values.errors import Malformed
from tests.support.each import each

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
ARRAY = {"type": "array", "items": STRING}
NUMBERS = {"type": "array", "items": INTEGER}
OBJECT = {
    "type": "object",
    "properties": {"R": INTEGER, "G": INTEGER, "B": INTEGER},
    "additionalProperties": STRING,
}
FREE = {"type": "object", "additionalProperties": STRING}
COLORS = ["blue", "black", "brown"]
RGB = {"R": 100, "G": 200, "B": 150}


def resolve(schema):
    return schema


def read(location, source, schema=STRING, style=None, explode=None, **more):
    reader = compile_reader(
        name="color",
        location=location,
        schema=schema,
        resolve=resolve,
        style=style,
        explode=explode,
        **more,
    )
    return reader(Query.parse(source) if location in ("query", "form") else source)


# OpenAPI 3.1, "Style Examples", with 3.0's and 3.1.0's dots and 3.1.1's commas in label.
@each(
    ("location", "style", "explode", "schema", "source", "value"),
    [
        ("path", "matrix", False, STRING, ";color", ""),
        ("path", "matrix", False, STRING, ";color=blue", "blue"),
        ("path", "matrix", False, ARRAY, ";color=blue,black,brown", COLORS),
        ("path", "matrix", False, OBJECT, ";color=R,100,G,200,B,150", RGB),
        ("path", "matrix", True, STRING, ";color", ""),
        ("path", "matrix", True, STRING, ";color=blue", "blue"),
        ("path", "matrix", True, ARRAY, ";color=blue;color=black;color=brown", COLORS),
        ("path", "matrix", True, OBJECT, ";R=100;G=200;B=150", RGB),
        ("path", "label", False, STRING, ".", ""),
        ("path", "label", False, STRING, ".blue", "blue"),
        ("path", "label", False, ARRAY, ".blue,black,brown", COLORS),
        ("path", "label", False, ARRAY, ".blue.black.brown", COLORS),
        ("path", "label", False, OBJECT, ".R,100,G,200,B,150", RGB),
        ("path", "label", False, OBJECT, ".R.100.G.200.B.150", RGB),
        ("path", "label", True, STRING, ".", ""),
        ("path", "label", True, STRING, ".blue", "blue"),
        ("path", "label", True, ARRAY, ".blue.black.brown", COLORS),
        ("path", "label", True, OBJECT, ".R=100.G=200.B=150", RGB),
        ("path", "simple", False, STRING, "blue", "blue"),
        ("path", "simple", False, ARRAY, "blue,black,brown", COLORS),
        ("path", "simple", False, OBJECT, "R,100,G,200,B,150", RGB),
        ("path", "simple", True, STRING, "blue", "blue"),
        ("path", "simple", True, ARRAY, "blue,black,brown", COLORS),
        ("path", "simple", True, OBJECT, "R=100,G=200,B=150", RGB),
        ("header", "simple", False, STRING, "blue", "blue"),
        ("header", "simple", False, ARRAY, "blue,black,brown", COLORS),
        ("header", "simple", False, OBJECT, "R,100,G,200,B,150", RGB),
        ("header", "simple", True, ARRAY, "blue,black,brown", COLORS),
        ("header", "simple", True, OBJECT, "R=100,G=200,B=150", RGB),
        ("query", "form", False, STRING, "color=", ""),
        ("query", "form", False, STRING, "color=blue", "blue"),
        ("query", "form", False, ARRAY, "color=blue,black,brown", COLORS),
        ("query", "form", False, OBJECT, "color=R,100,G,200,B,150", RGB),
        ("query", "form", True, STRING, "color=", ""),
        ("query", "form", True, STRING, "color=blue", "blue"),
        ("query", "form", True, ARRAY, "color=blue&color=black&color=brown", COLORS),
        ("query", "form", True, OBJECT, "R=100&G=200&B=150", RGB),
        ("query", "spaceDelimited", False, ARRAY, "color=blue%20black%20brown", COLORS),
        ("query", "spaceDelimited", False, ARRAY, "color=blue+black+brown", COLORS),
        ("query", "spaceDelimited", False, OBJECT, "color=R%20100%20G%20200%20B%20150", RGB),
        ("query", "spaceDelimited", True, ARRAY, "color=blue&color=black&color=brown", COLORS),
        ("query", "pipeDelimited", False, ARRAY, "color=blue|black|brown", COLORS),
        ("query", "pipeDelimited", False, ARRAY, "color=blue%7Cblack%7cbrown", COLORS),
        ("query", "pipeDelimited", False, OBJECT, "color=R%7C100%7CG%7C200%7CB%7C150", RGB),
        ("query", "pipeDelimited", True, ARRAY, "color=blue&color=black&color=brown", COLORS),
        ("query", "deepObject", True, OBJECT, "color[R]=100&color[G]=200&color[B]=150", RGB),
        ("query", "deepObject", False, OBJECT, "color%5BR%5D=100&color[G]=200&color[B]=150", RGB),
        ("cookie", "form", False, STRING, "color=blue", "blue"),
        ("cookie", "form", False, ARRAY, "a=b; color=blue,black,brown", COLORS),
        ("cookie", "form", False, OBJECT, "color=R,100,G,200,B,150; a=b", RGB),
        ("cookie", "form", True, STRING, "a=b; color=blue", "blue"),
        ("cookie", "form", True, ARRAY, "color=blue; color=black; color=brown", COLORS),
        ("cookie", "form", True, ARRAY, "color=blue&color=black&color=brown", COLORS),
        ("cookie", "form", True, OBJECT, "R=100&G=200&B=150", RGB),
        ("cookie", "form", True, OBJECT, "a=b; R=100; G=200; B=150", RGB),
    ],
)
def test_style(location, style, explode, schema, source, value):
    assert read(location, source, schema, style, explode) == value


@each(
    ("location", "schema", "source", "value"),
    [
        ("path", OBJECT, "R,100,G,200,B,150", RGB),
        ("header", OBJECT, "R,100,G,200,B,150", RGB),
        ("query", ARRAY, "color=blue,black&color=brown", ["blue,black", "brown"]),
        ("query", OBJECT, "x=1&R=100&G=200&B=150", RGB),
        ("cookie", STRING, "color=blue", "blue"),
    ],
)
def test_defaults(location, schema, source, value):
    assert read(location, source, schema) == value


@each(
    ("location", "style", "explode", "schema", "source", "value"),
    [
        ("path", "simple", False, NUMBERS, "1,2", [1, 2]),
        ("path", "simple", False, ARRAY, "a%2Cb,c", ["a,b", "c"]),
        ("path", "simple", False, STRING, "a,b%2Fc+d", "a,b/c+d"),
        ("path", "simple", True, FREE, "a%2C=1%3D,b==", {"a,": "1=", "b": "="}),
        ("path", "label", True, ARRAY, ".a%2Eb.c", ["a.b", "c"]),
        ("path", "matrix", False, ARRAY, ";color=a%3Bb,c", ["a;b", "c"]),
        ("path", "matrix", True, FREE, ";a%3D=1%3B;b", {"a=": "1;", "b": ""}),
        ("header", "simple", False, NUMBERS, " 1 , 2 ", [1, 2]),
        ("header", "simple", False, STRING, " 100% ", "100%"),
        ("header", "simple", False, ARRAY, "a%2Cb", ["a%2Cb"]),
        ("query", "form", False, ARRAY, "color=a%2Cb,c+d", ["a,b", "c d"]),
        ("query", "form", False, NUMBERS, "color=1,2&color=3", [1, 2, 3]),
        ("query", "form", True, INTEGER, "%63olor=5", 5),
        ("query", "form", True, INTEGER, "color=5&color=6", [5, 6]),
        ("query", "form", True, STRING, "color=%C3%A9", "é"),
        ("query", "form", True, STRING, "color=\xc3\xa9", "é"),
        ("query", "form", True, STRING, "color=a=b", "a=b"),
        ("query", "form", True, STRING, "color", ""),
        ("query", "form", True, OBJECT, "color=5", "5"),
        ("query", "form", False, {"anyOf": [OBJECT, INTEGER]}, "color=5", 5),
        ("query", "pipeDelimited", False, ARRAY, "color=a%20b|c,d", ["a b", "c,d"]),
        ("cookie", "form", True, STRING, "color=a%20b+c", "a b+c"),
        ("cookie", "form", True, STRING, "color=a=b", "a=b"),
    ],
)
def test_decoding(location, style, explode, schema, source, value):
    assert read(location, source, schema, style, explode) == value


@each(
    ("location", "style", "schema", "source", "value"),
    [
        ("path", "simple", ARRAY, "", []),
        ("path", "simple", OBJECT, "", {}),
        ("path", "label", ARRAY, ".", []),
        ("path", "label", OBJECT, ".", {}),
        ("path", "matrix", ARRAY, ";color", []),
        ("path", "matrix", OBJECT, ";color", {}),
        ("header", "simple", ARRAY, "", []),
        ("query", "form", ARRAY, "color=", []),
        ("query", "pipeDelimited", ARRAY, "color=", []),
        ("query", "spaceDelimited", OBJECT, "color=", {}),
        ("cookie", "form", ARRAY, "color=", []),
        ("query", "form", {"type": ["integer", "null"]}, "color=", None),
        ("query", "form", INTEGER, "color=", ""),
    ],
)
def test_empty(location, style, schema, source, value):
    assert read(location, source, schema, style, False) == value


@each(
    ("location", "style", "source"),
    [
        ("query", "form", "colors=1"),
        ("query", "form", ""),
        ("query", "form", "color[R]=1"),
        ("query", "deepObject", "other[R]=1"),
        ("header", "simple", None),
        ("cookie", "form", None),
        ("cookie", "form", "colors=1; color"),
    ],
)
@each("explode", [False, True])
@each("schema", [STRING, ARRAY, OBJECT])
def test_absent(location, style, source, explode, schema):
    assert read(location, source, schema, style, explode) is MISSING


ORDER = {
    "type": "object",
    "properties": {
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"count": INTEGER}},
        },
        "tags": NUMBERS,
    },
}
RANGE = {"anyOf": [{"type": "object", "properties": {"gte": INTEGER}}, INTEGER]}


@each(
    ("schema", "source", "value"),
    [
        (ORDER, "color[lines][0][count]=5", {"lines": [{"count": 5}]}),
        (
            ORDER,
            "color[lines][1][count]=6&color[lines][0][count]=5&x=1",
            {"lines": [{"count": 5}, {"count": 6}]},
        ),
        (ORDER, "color[tags][]=1&color[tags][]=2", {"tags": [1, 2]}),
        (ORDER, "color[tags][0]=1&color[tags][10]=2", {"tags": [1, 2]}),
        (ORDER, "color[tags]=1", {"tags": [1]}),
        (ORDER, "color[a+b][c%20d]=1+1", {"a b": {"c d": "1 1"}}),
        (ORDER, "color[x]=1&color[x]=2", {"x": ["1", "2"]}),
        (NUMBERS, "color[]=1&color[]=2", [1, 2]),
        (NUMBERS, "color[0]=1", [1]),
        (NUMBERS, "color=1&color=2", [1, 2]),
        (RANGE, "color[gte]=5", {"gte": 5}),
        (RANGE, "color=5", 5),
        (FREE, "color[5000]=a", {"5000": "a"}),
        (FREE, "color" + "[a]" * 16 + "=1", json.loads('{"a":' * 16 + '"1"' + "}" * 16)),
    ],
)
def test_deep_object(schema, source, value):
    assert read("query", source, schema, "deepObject", True) == value


@each(
    ("source", "message"),
    [
        ("color" + "[a]" * 17 + "=1", "16 deep"),
        ("color[tags][1000]=1", "1000"),
        ("color[__proto__][x]=1", "__proto__"),
        ("color[a][constructor]=1", "constructor"),
        ("color[a=1", "brackets"),
        ("color[a]b=1", "brackets"),
        ("color[[a]]=1", "brackets"),
        ("color[a]=1&color[a][b]=1", "both"),
        ("color[a][b]=1&color[a]=1", "both"),
        ("color[a]=1&color=1", "both"),
        ("color[a]=%zz", "two hex digits"),
    ],
)
def test_deep_object_refuses(source, message):
    with pytest.raises(Malformed, match=rf"^query parameter 'color': .*{message}"):
        read("query", source, ORDER, "deepObject", True)


@each(
    ("location", "style", "explode", "schema", "source"),
    [
        ("path", "simple", False, STRING, "%"),
        ("path", "simple", False, STRING, "%4"),
        ("path", "simple", False, STRING, "%g0"),
        ("path", "simple", False, STRING, "%ff"),
        ("path", "simple", False, STRING, "\xff"),
        ("path", "simple", False, STRING, "\u20ac"),
        ("path", "simple", False, OBJECT, "R,100,G"),
        ("path", "simple", True, OBJECT, "R,100"),
        ("path", "label", False, STRING, "blue"),
        ("path", "label", True, OBJECT, ".R=100.G"),
        ("path", "matrix", False, STRING, "color=blue"),
        ("path", "matrix", False, STRING, ";colour=blue"),
        ("path", "matrix", True, ARRAY, ";color=blue;colour=black"),
        ("query", "form", True, STRING, "color=%ff"),
        ("query", "form", True, ARRAY, "color=a&color=%"),
        ("query", "form", False, OBJECT, "color=R,1,G"),
        ("header", "simple", False, OBJECT, "R,100,G"),
        ("cookie", "form", True, STRING, "color=%"),
    ],
)
def test_malformed(location, style, explode, schema, source):
    with pytest.raises(Malformed, match=f"^{location} parameter 'color': "):
        read(location, source, schema, style, explode)


@each(
    ("location", "source", "media_type", "value"),
    [
        ("query", "color=%7B%22a%22%3A%5B1%5D%7D", "application/json", {"a": [1]}),
        ("query", "color=1", "application/problem+json; charset=utf-8", 1),
        ("query", "color=1", "text/plain", "1"),
        ("query", "", "application/json", MISSING),
        ("path", "%5B1%5D", "application/json", [1]),
        ("header", "[1, 2]", "application/json", [1, 2]),
        ("cookie", "color=%5B1%5D", "application/json", [1]),
    ],
)
def test_content(location, source, media_type, value):
    assert read(location, source, {}, media_type=media_type) == value


@each(
    ("media_type", "schema", "source", "value"),
    [
        ("*/*", INTEGER, "7", 7),
        ("text/plain", INTEGER, "7", 7),
        ("text/plain", {"type": "boolean"}, "true", True),
        ("*/*", INTEGER, "x", "x"),
        ("*/*", STRING, "7", "7"),
        ("*/*", ARRAY, "%5B1%5D", [1]),
        ("application/*", OBJECT, "%7B%22R%22%3A1%7D", {"R": 1}),
        ("application/jwt", STRING, "a.b.c", "a.b.c"),
    ],
)
def test_content_of_other_media_types_is_cast_to_its_schema(media_type, schema, source, value):
    assert read("path", source, schema, media_type=media_type) == value


def test_objects_of_other_media_types_are_not_read():
    with pytest.raises(ValueError, match="object of 'application/xml' is not read"):
        read("path", "x", OBJECT, media_type="application/xml")


@each("source", ["color={", "color=", "color=NaN", "color=1&color=2"])
def test_content_refuses(source):
    with pytest.raises(Malformed, match=r"^query parameter 'color': "):
        read("query", source, {}, media_type="application/json")


@each(
    ("schema", "value"),
    [
        (STRING, ""),
        ({}, ""),
        (INTEGER, MISSING),
        ({"type": ["integer", "null"]}, None),
        (ARRAY, []),
    ],
)
@each("source", ["color", "color="])
def test_allow_empty_value(schema, value, source):
    assert read("query", source, schema, allow_empty_value=True) == value


def test_reserved_names_are_not_taken_by_an_exploded_object():
    assert read("query", "R=1&G=2", OBJECT, reserved={"R"}) == {"G": 2}


@each(("location", "style"), [("query", "simple"), ("header", "form")])
def test_style_of_another_location(location, style):
    with pytest.raises(ValueError, match=f"{location} has no style '{style}'"):
        read(location, "", style=style)


def test_unknown_location():
    with pytest.raises(ValueError, match="'body' is not a location of parameters"):
        read("body", "")


# Round trips: what a client writes by a style is what the reader gives back.
words = st.text(min_size=1, max_size=8)
names = st.text(string.ascii_letters + " ,.;&=|+é", min_size=1, max_size=6)
lists = st.lists(words, min_size=1, max_size=4)
dicts = st.dictionaries(names, words, min_size=1, max_size=4)


def without_delimiter(style, value):
    """In these two styles an encoded delimiter delimits as well, so that no item can have one."""
    mark = {"spaceDelimited": " ", "pipeDelimited": "|"}.get(style)
    if mark is None:
        return value
    if isinstance(value, list):
        return [item.replace(mark, "_") for item in value]
    return {name.replace(mark, "_"): item.replace(mark, "_") for name, item in value.items()}


def code(text):
    return quote(text, safe="").replace(".", "%2E")


def encoded(style, explode, value):
    """`value` by RFC 6570 and, for the styles it does not have, by OpenAPI."""
    begin, between, pairs = {
        "simple": ("", ",", False),
        "label": (".", "." if explode else ",", False),
        "matrix": (";", ";", True),
        "form": ("", "&", True),
        "spaceDelimited": ("", "%20", True),
        "pipeDelimited": ("", "|", True),
    }[style]
    name = "color=" if pairs else ""
    if isinstance(value, dict) and explode:
        return begin + between.join(f"{code(k)}={code(v)}" for k, v in value.items())
    flat = value if isinstance(value, list) else [word for pair in value.items() for word in pair]
    if explode and pairs:
        return begin + ("&" if begin == "" else between).join(name + code(v) for v in flat)
    inner = "," if style in ("matrix", "form") else between
    return begin + name + inner.join(map(code, flat))


PATHS = [("path", "simple"), ("path", "label"), ("path", "matrix")]
QUERIES = [("query", "form"), ("query", "spaceDelimited"), ("query", "pipeDelimited")]


@pytest.mark.parametrize(("location", "style"), PATHS + QUERIES)
@pytest.mark.parametrize("explode", [False, True])
@given(value=lists)
def test_lists_round_trip(location, style, explode, value):
    if style == "label" and not explode and len(value) == 1:
        value = [*value, "x"]  # a single item with a dot reads as the table of 3.1.0 has it
    value = without_delimiter(style, value)
    assert read(location, encoded(style, explode, value), ARRAY, style, explode) == value


@pytest.mark.parametrize(("location", "style"), PATHS + QUERIES)
@given(value=dicts)
def test_objects_round_trip(location, style, value):
    value = without_delimiter(style, value)
    assert read(location, encoded(style, False, value), FREE, style, False) == value


@pytest.mark.parametrize(("location", "style"), [*PATHS, ("query", "form")])
@given(value=dicts)
def test_exploded_objects_round_trip(location, style, value):
    schema = {"type": "object", "properties": dict.fromkeys(value, STRING)}
    assert read(location, encoded(style, True, value), schema, style, True) == value


trees = st.recursive(words, lambda inner: st.dictionaries(names, inner, min_size=1, max_size=3))


@given(value=st.dictionaries(names, trees, min_size=1, max_size=3))
def test_deep_objects_round_trip(value):
    def flat(prefix, node):
        if isinstance(node, str):
            return [f"{prefix}={code(node)}"]
        return [x for key, sub in node.items() for x in flat(f"{prefix}[{code(key)}]", sub)]

    raw = "&".join(flat("color", value))
    assert read("query", raw, {"type": "object"}, "deepObject", True) == value


rough = st.text(st.sampled_from('color[]0=&%2C,;.|+aé\xff{}"'), max_size=60)


@pytest.mark.parametrize(
    ("location", "style"),
    [*PATHS, *QUERIES, ("query", "deepObject"), ("header", "simple"), ("cookie", "form")],
)
@pytest.mark.parametrize("explode", [False, True])
@given(
    text=st.one_of(rough, st.text(), rough.map("color".__add__)),
    schema=st.sampled_from([{}, STRING, NUMBERS, OBJECT, ORDER]),
)
def test_any_text_is_read_or_malformed(location, style, explode, text, schema):
    with suppress(Malformed):
        read(location, text, schema, style, explode)
