"""Templates: the closed list of names, braces, names without a value."""

import pytest

from engine.transforms.template import TemplateError, TemplateValues, has_template, literal, parse
from engine.values.caller import Caller
from tests.support.exchanges import new_exchange


def values(**fields):
    exchange = new_exchange(
        path="/v1/chat",
        query="team=a%20b&team=c&bad=%ff",
        environ={"HTTP_X_TEAM": "blue"},
        caller=Caller("alice", team="blue"),
        model="small",
        **fields,
    )
    return TemplateValues(exchange, "main", "s-1", "/chat")


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("plain", "plain"),
        ("", ""),
        ("{{a}} }}{{", "{a} }{"),
        ("{token.name} {token.team}", "alice blue"),
        ("{model}/{target.model}", "small/s-1"),
        ("{request.id} {request.method} {request.path}", "req_1 POST /v1/chat"),
        ("{request.header.X-Team}", "blue"),
        ("{request.query.team}", "a b"),
        ("{upstream.name}{target.path}", "main/chat"),
        ("{request.header.x-other}", None),
        ("x{request.query.other}", None),
        ("{request.query.bad}", None),
    ],
)
def test_a_template_is_filled(text, filled):
    assert parse(text, upstream=True).fill(values()) == filled


def test_a_caller_without_a_token_has_no_name():
    assert parse("{token.name}", upstream=False).fill(TemplateValues(new_exchange())) is None


def test_a_token_without_a_team_has_none():
    exchange = new_exchange(caller=Caller("alice"))
    assert parse("{token.team}", upstream=False).fill(TemplateValues(exchange)) is None


@pytest.mark.parametrize("text", ["Jürgen".encode(), b"J\xfcrgen"], ids=["utf-8", "latin-1"])
def test_a_header_beyond_ascii_is_read_as_text(text):
    exchange = new_exchange(environ={"HTTP_X_A": text.decode("latin-1")})
    template = parse("{request.header.x-a}", upstream=False)
    assert template.fill(TemplateValues(exchange)) == "Jürgen"


def test_a_filled_value_is_not_read_as_a_template():
    exchange = new_exchange(environ={"HTTP_X_A": "{token.name}"}, caller=Caller("alice"))
    template = parse("{request.header.x-a}", upstream=False)
    assert template.fill(TemplateValues(exchange)) == "{token.name}"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("{token.nam}", "a template has no name 'token.nam'", "did you mean {token.name}?"),
        ("{}", "a template has no name ''", "write {{ and }} for braces"),
        ("{request.header.}", "a template has no name 'request.header.'", ""),
        ("a{", "a brace without its pair at character 2", "write {{ and }} for braces"),
        ("a}", "a brace without its pair at character 2", "write {{ and }} for braces"),
        ("{request.header.Cookie}", "header 'Cookie' is never forwarded", "the caller's token"),
        ("{request.headers.Cookie}", "header 'Cookie' is never forwarded", "the caller's token"),
        (
            "a {request.headers.x-a}",
            "'{request.headers.x-a}' is a list, and cannot be a part of a text",
            "write '{request.header....}' for the text",
        ),
        (
            "{target.model}",
            "'{target.model}' is not known before a target is chosen",
            "move it to the transform of an upstream or a target",
        ),
    ],
)
def test_a_template_that_cannot_be_read(text, message, hint):
    with pytest.raises(TemplateError) as excinfo:
        parse(text, upstream=False)
    assert str(excinfo.value) == message
    assert hint in excinfo.value.hint


@pytest.mark.parametrize(
    ("value", "elements"),
    [("a", ["a"]), ("a,b , c,,", ["a", "b", "c"]), (" , ", None), (None, None)],
)
def test_the_elements_of_a_header_are_a_list(value, elements):
    template = parse("{request.headers.X-A}", upstream=False)
    environ = {} if value is None else {"HTTP_X_A": value}
    assert template.is_list
    assert template.elements(TemplateValues(new_exchange(environ=environ))) == elements


def test_only_values_of_names_are_encoded():
    template = parse("/a b/{model}", upstream=True)
    assert template.fill(values(), lambda value, name: value.upper()) == "/a b/SMALL"


def test_the_text_of_a_template_without_names_is_constant():
    assert parse("{{a}}", upstream=False).constant == "{a}"
    assert parse("{model}", upstream=False).constant is None
    assert literal("{a}").fill(values()) == "{a}"


@pytest.mark.parametrize(
    ("value", "expected"), [({"a": ["{b}"]}, True), ({"{a}": [1, "b"]}, False), (None, False)]
)
def test_values_with_templates_are_found(value, expected):
    assert has_template(value) is expected
