"""Runtime expressions: a value read, and written with every other byte unchanged."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.exchange.exchange import MISSING, Exchange
from engine.exchange.spooled_body import receive
from engine.spec.bodies.form_bodies import compile_form
from engine.spec.bodies.multipart import boundary_of
from engine.spec.bodies.multipart import parse as parse_multipart
from engine.spec.bodies.multipart_bodies import compile_multipart
from engine.spec.expression import parse
from engine.values.errors import GatewayError
from tests.support.documents import exchange, form_data
from tests.support.each import each
from tests.support.exchanges import new_exchange, set_content

FORM = "application/x-www-form-urlencoded"
MODEL = "$request.body#/model"


def json_request(body: Any) -> Exchange:
    result = exchange(body)
    value = orjson.loads(result.body.buffer)
    set_content(result, media_type="application/json", value=value)
    return result


def form_request(body: bytes) -> Exchange:
    result = exchange(body, FORM)
    value = compile_form({}, None, lambda schema: schema)(body)
    set_content(result, media_type=FORM, value=value)
    return result


def multipart_request(body: bytes, content_type: str) -> Exchange:
    result = exchange(body, content_type)
    parts = list(parse_multipart(body, boundary_of(content_type)))
    value = compile_multipart({}, None, lambda schema: schema)(body, parts)
    set_content(result, media_type="multipart/form-data", value=value, parts=parts)
    return result


def replaced(request: Exchange, text: str, new: str) -> bytes:
    """The body after `new` was written where the expression says."""
    expression = parse(text)
    expression.replace(request, expression.check(request)[1], new)
    return b"".join(request.body.chunks())


# The text of an expression.


@each(
    ("text", "place", "steps", "param"),
    [
        ("$request.body#/model", "body", ("model",), "model"),
        ("$request.body#/a/b/0", "body", ("a", "b", "0"), "a.b.0"),
        ("$request.body#/a~1b/c~0d/~01", "body", ("a/b", "c~d", "~1"), "a/b.c~d.~1"),
        ("$request.body#/", "body", ("",), ""),
        ("$request.path.model", "path", ("model",), "model"),
        ("$request.path.file-id", "path", ("file-id",), "file-id"),
        ("$request.query.model", "query", ("model",), "model"),
        ("$request.query.a[b]", "query", ("a[b]",), "a[b]"),
        ("$request.header.X-Model", "header", ("x-model",), "x-model"),
    ],
)
def test_an_expression_says_where(text: str, place: str, steps: Any, param: str) -> None:
    expression = parse(text)
    assert (expression.location, expression.steps, expression.param) == (place, steps, param)


@each(
    "text",
    [
        "",
        "model",
        "$request",
        "$request.body",
        "$request.body#",
        "$request.body#model",
        "$request.body.model",
        "$request.query.",
        "$request.path.",
        "$request.header.",
        "$request.header.x y",
        "$request.header.x:y",
        "$request.cookie.model",
        "$response.body#/model",
        " $request.query.model",
        "$Request.query.model",
        "$url",
        "$method",
    ],
)
def test_another_text_is_no_expression(text: str) -> None:
    with pytest.raises(ValueError, match="is not one of"):
        parse(text)


# Reading.


@each(
    ("text", "body", "value"),
    [
        (MODEL, {"model": "m"}, "m"),
        (MODEL, {"model": None}, None),
        (MODEL, {"model": ""}, ""),
        (MODEL, {}, MISSING),
        (MODEL, [], MISSING),
        (MODEL, "model", MISSING),
        (MODEL, None, MISSING),
        ("$request.body#/a/b", {"a": {"b": "m"}}, "m"),
        ("$request.body#/a/1", {"a": ["x", "m"]}, "m"),
        ("$request.body#/a/1", {"a": ["x"]}, MISSING),
        ("$request.body#/a/-1", {"a": ["x"]}, MISSING),
        ("$request.body#/a/b", {"a": "b"}, MISSING),
        ("$request.body#/a~1b", {"a/b": "m"}, "m"),
        ("$request.body#/", {"": "m"}, "m"),
        ("$request.body#/é", {"é": "m"}, "m"),
    ],
)
def test_a_value_is_read_from_json(text: str, body: Any, value: Any) -> None:
    assert parse(text).read(json_request(body)) == value


def test_a_value_is_read_from_a_form() -> None:
    assert parse(MODEL).read(form_request(b"a=b&model=org%2Fm+x")) == "org/m x"
    assert parse(MODEL).read(form_request(b"a=b")) is MISSING


def test_a_value_is_read_from_multipart() -> None:
    fields = [["file", "RIFF", "a.wav", "audio/wav"], ["model", "whisper-é"]]
    assert parse(MODEL).read(multipart_request(*form_data(fields))) == "whisper-é"
    assert parse(MODEL).read(multipart_request(*form_data(fields[:1]))) is MISSING


def test_a_value_is_read_from_the_path_decoded() -> None:
    request = exchange(path="/m/org%2Fm:go", variables={"model": (3, 10)})
    assert parse("$request.path.model").read(request) == "org/m"


@each(
    ("query", "value"),
    [("model=m", "m"), ("a=b&model=org%2Fm+x", "org/m x"), ("model=", ""), ("", MISSING)],
)
def test_a_value_is_read_from_the_query(query: str, value: Any) -> None:
    assert parse("$request.query.model").read(exchange(query=query)) == value


def test_a_value_is_read_from_a_header() -> None:
    request = exchange(headers={"X-Model": "m"})
    assert parse("$request.header.x-model").read(request) == "m"
    assert parse("$request.header.x-other").read(request) is MISSING


# A value that is given twice is refused.


@each(
    ("text", "body"),
    [
        (MODEL, b'{"model":"a","model":"b"}'),
        (MODEL, b'{"model":"a","x":{"model":"c"},"model":"b"}'),
        (MODEL, b'{"model":"a","mod\\u0065l":"b"}'),
        (MODEL, b'{"mod\\u0065l":"a","model":"b"}'),
        (MODEL, b'{"model":null,"model":"b"}'),
        ("$request.body#/a/b", b'{"a":{"b":"x"},"a":{"b":"y"}}'),
        ("$request.body#/a/b", b'{"a":{"b":"x","b":"y"}}'),
        ("$request.body#/a/b", b'{"a":1,"a":{"b":"y"}}'),
        ("$request.body#/a/b", b'{"a":{"b":"x"},"a":{}}'),
        ("$request.body#/a/b/c", b'{"a":{"b":{"c":"x"},"b":1}}'),
        ("$request.body#/a/0/b", b'{"a":[{"b":"x"}],"a":[]}'),
        ("$request.body#/a/b", b'{"a":{"B":"x"}}'),
        ("$request.body#/a/b", b'{"a":{"b":"x","B":"y"}}'),
        ("$request.body#/a/0/b", b'{"a":[{"B":"x"}]}'),
    ],
)
def test_a_repeated_key_is_refused(text: str, body: bytes) -> None:
    expression = parse(text)
    with pytest.raises(GatewayError) as excinfo:
        expression.check(json_request(body))
    assert (excinfo.value.status, excinfo.value.param) == (400, expression.param)
    assert "twice" in excinfo.value.message


@each(
    "body",
    [
        b'{"model":"a","x":{"model":"b"}}',
        b'{"x":[{"model":"b"},{"model":"c"}],"model":"a"}',
        b'{"model":"a","x":"model"}',
        b'{"x":"\\"model\\":\\"b\\"","model":"a"}',
        b'{"other":1,"other":2,"model":"a"}',
    ],
)
def test_a_key_of_the_same_name_elsewhere_is_none_of_it(body: bytes) -> None:
    request = json_request(body)
    start, end = parse(MODEL).check(request)[1] or (0, 0)
    assert body[start:end] == b'"a"'


def test_a_field_twice_in_a_form_is_refused() -> None:
    for body in (b"model=a&model=b", b"model=a&%6dodel=b"):
        with pytest.raises(GatewayError, match="twice"):
            parse(MODEL).check(form_request(body))


def test_a_part_twice_is_refused() -> None:
    request = multipart_request(*form_data([["model", "a"], ["x", "y"], ["model", "b"]]))
    with pytest.raises(GatewayError, match="twice"):
        parse(MODEL).check(request)


def test_a_query_parameter_twice_is_refused() -> None:
    request = exchange(query="model=a&x=y&mod%65l=b")
    with pytest.raises(GatewayError, match="twice"):
        parse("$request.query.model").read(request)


# Writing.


@each(
    ("text", "body", "new"),
    [
        (MODEL, b'{"model":"a"}', b'{"model":"N"}'),
        (MODEL, b' {\n "x" : 1.0 , "model"\t:\n "a" }\n', b' {\n "x" : 1.0 , "model"\t:\n "N" }\n'),
        (MODEL, b'{"mod\\u0065l":"a"}', b'{"mod\\u0065l":"N"}'),
        (MODEL, b'{"model":"a\\"b\\\\"}', b'{"model":"N"}'),
        (MODEL, b'{"model":null,"x":1}', b'{"model":"N","x":1}'),
        (MODEL, b'{"x":{"model":"b"},"model":"a"}', b'{"x":{"model":"b"},"model":"N"}'),
        (MODEL, b'{"x":"\\"model\\":1","model":"a"}', b'{"x":"\\"model\\":1","model":"N"}'),
        (
            MODEL,
            b'{"x":"\xf0\x9f\x98\x80","model":"\xc3\xa9"}',
            b'{"x":"\xf0\x9f\x98\x80","model":"N"}',
        ),
        ("$request.body#/a/b", b'{"b":1,"a":{"b":"a"}}', b'{"b":1,"a":{"b":"N"}}'),
        ("$request.body#/a/1/b", b'{"a":[{"b":1},{"b":"a"}]}', b'{"a":[{"b":1},{"b":"N"}]}'),
        ("$request.body#/a~1b", b'{"a/b":"a"}', b'{"a/b":"N"}'),
        # It is added in front when it is not there.
        (MODEL, b"{}", b'{"model":"N"}'),
        (MODEL, b' { "x":1}', b' {"model":"N", "x":1}'),
        (MODEL, b'{"x":{"model":"b"}}', b'{"model":"N","x":{"model":"b"}}'),
    ],
)
def test_a_value_is_written_into_json(text: str, body: bytes, new: bytes) -> None:
    assert replaced(json_request(body), text, "N") == new


def test_a_name_of_any_letters_is_written_as_json() -> None:
    result = replaced(json_request(b'{"model":"a"}'), MODEL, 'é"\\\n😀')
    assert json.loads(result) == {"model": 'é"\\\n😀'}


@each(
    ("body", "new"),
    [
        (b"model=a", b"model=org%2FN"),
        (b"x=%20+1&model=a&y", b"x=%20+1&model=org%2FN&y"),
        (b"mod%65l=a&x=\xe9", b"mod%65l=org%2FN&x=\xe9"),
        (b"x=1", b"x=1&model=org%2FN"),
    ],
)
def test_a_value_is_written_into_a_form(body: bytes, new: bytes) -> None:
    request = exchange(body, FORM)
    set_content(request, media_type=FORM)
    assert replaced(request, MODEL, "org/N") == new


def test_a_value_is_written_into_multipart() -> None:
    fields = [["file", "RI\r\nFF", "a.wav", "audio/wav"], ["model", "a"], ["x", "a"]]
    body, content_type = form_data(fields)
    result = replaced(multipart_request(body, content_type), MODEL, "é")
    assert result == body.replace(b'"model"\r\n\r\na\r\n', b'"model"\r\n\r\n\xc3\xa9\r\n')


def test_a_part_is_added_to_multipart() -> None:
    body, content_type = form_data([["x", "y"]])
    result = replaced(multipart_request(body, content_type), MODEL, "N")
    assert result.endswith(body)
    assert parse(MODEL).read(multipart_request(result, content_type)) == "N"
    assert parse("$request.body#/x").read(multipart_request(result, content_type)) == "y"


def test_a_value_is_written_into_the_path() -> None:
    request = exchange(path="/v1/a%2Fb:go", variables={"model": (4, 9)})
    expression = parse("$request.path.model")
    assert expression.check(request)[1] is None
    expression.replace(request, None, "org/n:x é")
    assert request.path == "/v1/org%2Fn%3Ax%20%C3%A9:go"


@each(
    ("query", "new"),
    [
        ("model=a", "model=N%26"),
        ("x=%20+1&model=a&y", "x=%20+1&model=N%26&y"),
        ("", "model=N%26"),
        ("x=1", "x=1&model=N%26"),
    ],
)
def test_a_value_is_written_into_the_query(query: str, new: str) -> None:
    request = exchange(query=query)
    parse("$request.query.model").replace(request, None, "N&")
    assert request.query == new


def test_a_value_is_written_into_a_header() -> None:
    request = exchange(headers={"X-Model": "a", "X-Other": "b"})
    before = request.environ
    parse("$request.header.x-model").replace(request, None, "N")
    assert request.environ["HTTP_X_MODEL"] == "N"
    assert request.environ["HTTP_X_OTHER"] == "b"
    assert before["HTTP_X_MODEL"] == "a"


class Chunked:
    """A body as WSGI's input gives it."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, size: int, /) -> bytes:
        data, self.data = self.data[:size], self.data[size:]
        return data


@each("filler", ["before", "after"])
def test_a_value_is_written_into_a_body_on_disk(filler: str) -> None:
    large = b'"x":"' + b"y" * 1_200_000 + b'"'
    data = (
        b"{" + large + b',"model":"a"}' if filler == "before" else b'{"model":"a",' + large + b"}"
    )
    request = exchange(b"")
    request.body = receive(Chunked(data), len(data), 10_000_000)
    assert request.body.in_memory is None
    set_content(request, media_type="application/json", value=json.loads(data))
    try:
        assert replaced(request, MODEL, "new-name") == data.replace(b'"a"', b'"new-name"')
        assert request.body.size == len(data) + len("new-name") - 1
    finally:
        request.body.close()


# Every other byte is as it was.

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)
documents = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.just("model"), inner, max_size=3)
    ),
    max_leaves=8,
)
spaces = st.sampled_from(["", " ", "\n", "\t ", "\r\n"])


@given(
    st.dictionaries(st.text(max_size=4), documents, max_size=3),
    st.dictionaries(st.text(max_size=4), documents, max_size=3),
    st.text(max_size=5),
    st.text(max_size=5),
    spaces,
    st.booleans(),
)
def test_json_around_a_value_stays_as_it_was(
    before: Any, after: Any, old: str, new: str, space: str, plain: bool
) -> None:
    before.pop("model", None)
    after.pop("model", None)

    def pairs(fields: Any) -> list[str]:
        return [
            f"{json.dumps(k, ensure_ascii=plain)}:{space}{json.dumps(v, ensure_ascii=not plain)}"
            for k, v in fields.items()
        ]

    def text(value: str) -> bytes:
        middle = f'"model"{space}:{space}{value}'
        body_text = f",{space}".join([*pairs(before), middle, *pairs(after)])
        return f"{space}{{{body_text}}}{space}".encode("utf-8", "surrogatepass")

    body = text(json.dumps(old, ensure_ascii=plain))
    request = exchange(body)
    set_content(request, media_type="application/json", value=json.loads(body))
    assert replaced(request, MODEL, new) == text(orjson.dumps(new).decode())


@given(documents, st.lists(st.text(max_size=3) | st.integers(0, 2), min_size=1, max_size=3))
def test_a_nested_value_is_found_where_a_reader_sees_it(inner: Any, steps: list[Any]) -> None:
    value: Any = "old"
    for step in reversed(steps):
        value = {step: value} if isinstance(step, str) else [inner] * step + [value]
    if not isinstance(value, dict | list):
        return
    pointer = "".join("/" + str(s).replace("~", "~0").replace("/", "~1") for s in steps)
    body = json.dumps(value).encode()
    result = replaced(json_request(body), f"$request.body#{pointer}", "new")
    at = json.loads(result)
    for step in steps:
        at = at[step]
    assert at == "new"


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c d"]), st.text(max_size=4)), max_size=4),
    st.integers(0, 4),
    st.text(max_size=5),
)
def test_a_query_around_a_value_stays_as_it_was(pairs: Any, where: int, new: str) -> None:
    segments = [f"{quote(name)}={quote(value, safe='/+')}" for name, value in pairs]
    before, after = segments[:where], segments[where:]
    request = exchange(query="&".join([*before, "model=old", *after]))
    parse("$request.query.model").replace(request, None, new)
    assert request.query == "&".join([*before, f"model={quote(new, safe='')}", *after])


@given(st.lists(st.binary(max_size=10), max_size=3), st.text(max_size=5), st.booleans())
def test_the_parts_around_a_value_stay_as_they_were(
    contents: list[bytes], new: str, there: bool
) -> None:
    def part(name: str, content: bytes) -> bytes:
        more = "" if name == "model" else '; filename="f"'
        head = f'--xyz\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'
        return head.encode() + content + b"\r\n"

    parts = [part(f"p{n}", content.replace(b"-", b"")) for n, content in enumerate(contents)]
    old = [part("model", b"old")] if there or not parts else []
    body = b"".join([*parts, *old]) + b"--xyz--\r\n"
    request = multipart_request(body, "multipart/form-data; boundary=xyz")
    result = replaced(request, MODEL, new)
    result_bytes = [part("model", new.encode("utf-8", "surrogatepass"))]
    expected = [*parts, *result_bytes] if old else [*result_bytes, *parts]
    assert result == b"".join(expected) + b"--xyz--\r\n"


@each("body", [b'{"n": 1, "model": "old"}', b'{"n": 1}'])
def test_the_model_is_replaced_together_with_other_edits(body: bytes) -> None:
    request, model, at = json_request(body), parse(MODEL), body.index(b"1")
    model.replace(request, model.check(request)[1], "new", [(at, at + 1, b"2")])
    assert orjson.loads(bytes(request.body.buffer)) == {"n": 2, "model": "new"}


def test_a_nested_place_is_in_no_form() -> None:
    request = new_exchange("POST", "/x", "", {})
    set_content(request, value={"session": {"model": "m"}})
    place = parse("$request.body#/session/model")
    assert place.read(request) == "m"
    for media_type in ("multipart/form-data", FORM):
        set_content(request, media_type=media_type)
        assert place.read(request) is MISSING


# Names that an upstream may read as the model's.

ALIKE = [
    "Model",
    "mod\\el",
    "%6dodel",
    "model%00",
    "model[]",
    "model[0]",
    "model[name]",
    "MODEL[]",
    " model",
    "model ",
    "mod%5Cel",
    "=?utf-8?q?model?=",
    "=?utf-8?b?bW9kZWw=?=",
]


def sent_forms(pairs: list[tuple[str, str]]) -> list[Exchange]:
    """The same fields in both kinds of forms."""
    body, content_type = form_data([list(pair) for pair in pairs])
    encoded = "&".join(f"{quote(name)}={value}" for name, value in pairs).encode()
    result = [exchange(body, content_type), exchange(encoded, FORM)]
    parts = list(parse_multipart(body, boundary_of(content_type)))
    set_content(result[0], media_type="multipart/form-data", value=dict(pairs), parts=parts)
    set_content(result[1], media_type=FORM, value=dict(pairs))
    return result


@each("first", [("model", "one"), ("other", "x")], ids=["beside", "instead"])
@each("name", ALIKE)
def test_a_name_that_may_be_read_as_the_models_is_refused(
    name: str, first: tuple[str, str]
) -> None:
    pairs = [first, (name, "two")]
    query = "&".join(f"{quote(name)}={value}" for name, value in pairs)
    requests = [(MODEL, result) for result in sent_forms(pairs)]
    requests.append(("$request.query.model", exchange(query=query)))
    for text, result in requests:
        with pytest.raises(GatewayError) as excinfo:
            parse(text).check(result)
        assert (excinfo.value.status, excinfo.value.param) == (400, "model")


@each("name", ["models", "model_id", "models[]", "[model]", "x[model]", "=?x", "=?utf-8?b?%?="])
def test_a_name_that_is_not_read_as_the_models_is_another(name: str) -> None:
    for result in sent_forms([("model", "one"), (name, "two")]):
        at = parse(MODEL).check(result)[1]
        assert at is None or bytes(result.body.buffer)[slice(*at)] == b"one"


@each(
    "body", [b'{"Model":"two","model":"one"}', b'{"model":"one","MODEL":"two"}', b'{"mOdel":"x"}']
)
def test_another_spelling_of_a_member_of_json_is_refused(body: bytes) -> None:
    with pytest.raises(GatewayError) as excinfo:
        parse(MODEL).check(json_request(body))
    assert (excinfo.value.status, excinfo.value.param) == (400, "model")


def test_brackets_in_json_are_part_of_a_name() -> None:
    assert parse(MODEL).check(json_request(b'{"model[]": "two", "model": "one"}'))[1] is not None
