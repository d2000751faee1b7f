"""Every style of a parameter, written as OpenAPI's examples are, and read again as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.parameters.parameter_readers import compile_reader
from engine.spec.parameters.parameter_writers import parameter_writer
from engine.spec.parameters.query_string import Query
from tests.support.each import each

STRING = {"type": "string"}
ARRAY = {"type": "array", "items": STRING}
OBJECT = {"type": "object", "properties": {"R": {}, "G": {}}, "additionalProperties": STRING}
COLORS = ["blue", "black", "brown"]
RGB = {"R": 100, "G": 200, "B": 150}


def write(location, value, style=None, explode=None, **more):
    return parameter_writer("color", location, style, explode, **more).write(value)


# OpenAPI 3.1.1, "Style Examples".
@each(
    ("location", "style", "explode", "value", "text"),
    [
        ("path", "matrix", False, "", ";color"),
        ("path", "matrix", False, "blue", ";color=blue"),
        ("path", "matrix", False, COLORS, ";color=blue,black,brown"),
        ("path", "matrix", False, RGB, ";color=R,100,G,200,B,150"),
        ("path", "matrix", True, COLORS, ";color=blue;color=black;color=brown"),
        ("path", "matrix", True, RGB, ";R=100;G=200;B=150"),
        ("path", "label", False, "", "."),
        ("path", "label", False, "blue", ".blue"),
        ("path", "label", False, COLORS, ".blue,black,brown"),
        ("path", "label", False, RGB, ".R,100,G,200,B,150"),
        ("path", "label", True, COLORS, ".blue.black.brown"),
        ("path", "label", True, RGB, ".R=100.G=200.B=150"),
        ("path", "simple", False, "blue", "blue"),
        ("path", "simple", False, COLORS, "blue,black,brown"),
        ("path", "simple", False, RGB, "R,100,G,200,B,150"),
        ("path", "simple", True, RGB, "R=100,G=200,B=150"),
        ("header", "simple", False, RGB, "R,100,G,200,B,150"),
        ("header", "simple", True, RGB, "R=100,G=200,B=150"),
        ("query", "form", True, "", "color="),
        ("query", "form", True, COLORS, "color=blue&color=black&color=brown"),
        ("query", "form", False, COLORS, "color=blue,black,brown"),
        ("query", "form", True, RGB, "R=100&G=200&B=150"),
        ("query", "form", False, RGB, "color=R,100,G,200,B,150"),
        ("query", "spaceDelimited", False, COLORS, "color=blue%20black%20brown"),
        ("query", "pipeDelimited", False, COLORS, "color=blue%7Cblack%7Cbrown"),
        ("query", "deepObject", True, RGB, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        ("cookie", "form", True, COLORS, "color=blue&color=black&color=brown"),
        ("cookie", "form", False, COLORS, "color=blue,black,brown"),
        ("cookie", "cookie", True, COLORS, "color=blue; color=black; color=brown"),
        # Swagger 2.0
        ("query", "ssv", False, COLORS, "color=blue%20black%20brown"),
        ("query", "tsv", False, COLORS, "color=blue%09black%09brown"),
        ("path", "pipes", False, COLORS, "blue%7Cblack%7Cbrown"),
        ("header", "pipes", False, COLORS, "blue|black|brown"),
    ],
)
def test_style(location, style, explode, value, text):
    assert write(location, value, style, explode) == text


@each(
    ("location", "value", "text"),
    [
        ("path", "a/b c,é", "a%2Fb%20c%2C%C3%A9"),
        ("path", ["a,b", "c"], "a%2Cb,c"),
        ("query", "a&b=c+d", "color=a%26b%3Dc%2Bd"),
        ("query", True, "color=true"),
        ("query", 0.5, "color=0.5"),
        ("header", "a,b; c", "a,b; c"),
        ("query", [], None),
        ("query", {}, None),
    ],
)
def test_what_is_encoded_by_default(location, value, text):
    assert write(location, value) == text


def test_a_variable_that_may_be_wide_keeps_its_slashes():
    assert write("path", "org/a b", has_slashes=True) == "org/a%20b"


def test_a_parameter_with_content_is_json_or_text():
    assert write("query", {"a": [1]}, media_type="application/json") == (
        "color=%7B%22a%22%3A%20%5B1%5D%7D"
    )
    assert write("header", {"a": 1}, media_type="application/json") == '{"a": 1}'
    assert write("query", "a b", media_type="text/plain") == "color=a%20b"
    assert write("query", [1], media_type="*/*") == "color=%5B1%5D"
    assert write("query", 1, media_type="*/*") == "color=1"


def test_objects_in_objects_and_lists_of_them_have_brackets():
    value = {"a": {"b": [1, 2]}, "c": [{"d": "x"}]}
    assert write("query", value, "deepObject").replace("%5B", "[").replace("%5D", "]") == (
        "color[a][b][]=1&color[a][b][]=2&color[c][0][d]=x"
    )


@each(
    ("location", "style", "explode", "value", "message"),
    [
        ("query", "form", True, [["a"]], "a list or object cannot be written here"),
        ("query", "form", True, {"a": {"b": 1}}, "a list or object cannot be written here"),
        ("query", "form", True, None, "null cannot be written here in the style 'form'"),
        ("query", "pipeDelimited", False, ["a|b"], "contains '|', which separates texts here"),
        ("query", "spaceDelimited", False, ["a b"], "contains ' ', which separates"),
        ("query", "deepObject", True, {"a]": 1}, "the name 'a]' cannot be written in brackets"),
        ("header", "simple", False, ["a,b"], "contains ',', which separates"),
        ("header", "simple", True, {"a=b": "c"}, "contains '=', which separates"),
        ("header", "simple", False, "a\r\nx: y", "only visible ASCII"),
        ("header", "simple", False, " a", "only visible ASCII"),
        ("cookie", "cookie", True, "a;b", "contains ';', which separates"),
        ("cookie", "form", True, {"a;b": "c"}, "a cookie cannot have the name 'a;b'"),
    ],
)
def test_what_a_style_cannot_express_is_an_error(location, style, explode, value, message):
    with pytest.raises(ValueError, match="color") as excinfo:
        write(location, value, style, explode)
    assert message in str(excinfo.value)
    assert str(excinfo.value).startswith(f"{location} parameter 'color': ")


def test_an_unknown_style_is_an_error():
    with pytest.raises(ValueError, match="header has no style 'form'"):
        write("header", "x", "form")


STYLES = [
    *(("path", style, explode) for style in ("simple", "label", "matrix") for explode in (0, 1)),
    *(("query", "form", explode) for explode in (0, 1)),
    *(("query", style, 0) for style in ("spaceDelimited", "pipeDelimited")),
    *(("header", "simple", explode) for explode in (0, 1)),
    *(("cookie", "form", explode) for explode in (0, 1)),
    *(("cookie", "cookie", explode) for explode in (0, 1)),
    ("query", "deepObject", 1),
]
VALUES = [
    (STRING, st.text(min_size=1)),
    (ARRAY, st.lists(st.text(min_size=1), min_size=1)),
    (OBJECT, st.fixed_dictionaries({"R": st.text(min_size=1)}, optional={"G": st.text()})),
]


@pytest.mark.parametrize(("location", "style", "explode"), STYLES)
@pytest.mark.parametrize(("schema", "values"), VALUES, ids=["text", "list", "object"])
@given(data=st.data())
def test_what_is_written_is_read_as_the_same_value(location, style, explode, schema, values, data):
    """The law of the module: read again, or refused."""
    value = data.draw(values)
    try:
        text = write(location, value, style, bool(explode))
    except ValueError:
        return
    read = compile_reader(
        name="color",
        location=location,
        schema=schema,
        resolve=lambda schema: schema,
        style=style,
        explode=bool(explode),
    )
    source = text.encode().decode("latin-1")
    if style == "deepObject" and not isinstance(value, dict):
        return  # it is for objects only
    assert read(Query.parse(source) if location == "query" else source) == value
