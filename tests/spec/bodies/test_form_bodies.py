"""Form bodies as objects."""

from contextlib import suppress
from urllib.parse import quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.bodies.form_bodies import MAX_FIELDS, MAX_TEXT, compile_form
from engine.values.errors import Malformed
from tests.support.each import each
from tests.support.forms import BRACKETED, CHARGE, INTEGER, JSON, STRING, multipart, resolve
from tests.support.loop_turns import loop_turns

DEEP = {"style": "deepObject", "explode": True}


def form(body, encoding=None, schema=CHARGE):
    return compile_form(schema, encoding, resolve)(body)


@each(
    ("body", "value"),
    [
        (b"", {}),
        (b"amount=5", {"amount": 5}),
        (b"amount=x", {"amount": "x"}),
        (b"amount=5&amount=6", {"amount": [5, 6]}),
        (b"note=a+b%26%C3%A9", {"note": "a b&é"}),
        (b"note=\xc3\xa9", {"note": "é"}),
        (b"note", {"note": ""}),
        (b"numbers=1", {"numbers": [1]}),
        (b"numbers=1&numbers=2", {"numbers": [1, 2]}),
        (b"numbers=1,2", {"numbers": ["1,2"]}),
        (b"numbers[]=1&numbers[]=2", {"numbers": [1, 2]}),
        (b"cvc=5&note=x", {"card": {"cvc": 5}, "note": "x"}),
        (b"card[cvc]=5&card[note]=x", {"card": {"cvc": 5, "note": "x"}}),
        (b"card=x", {"card": "x"}),
        (b"card=%7B%22cvc%22:5%7D", {"card": {"cvc": 5}}),
        (b"card={", {"card": "{"}),
        (b'card={"cvc":5,"cvc":6}', {"card": '{"cvc":5,"cvc":6}'}),
        (b'lines={"price":5}&lines={"tax":"7"}', {"lines": [{"price": 5}, {"tax": "7"}]}),
        (b'metadata={"order":"6735"}', {"metadata": '{"order":"6735"}'}),
        (b"expand={}&note={}", {"expand": ["{}"], "note": "{}"}),
        (b"other=5&other2=a&other2=b", {"other": "5", "other2": ["a", "b"]}),
        (b"amount[x]=5", {"amount[x]": "5"}),
    ],
)
def test_default_encoding(body, value):
    assert form(body) == value


# What Stripe's clients send.
@each(
    ("body", "value"),
    [
        (b"expand[]=a&expand[]=b", {"expand": ["a", "b"]}),
        (b"expand[0]=a&expand[1]=b", {"expand": ["a", "b"]}),
        (b"metadata[order]=6735&metadata[5]=x", {"metadata": {"order": "6735", "5": "x"}}),
        (b"metadata=", {"metadata": ""}),
        (
            b"lines[0][price]=5&lines[0][tax]=7&lines[1][price]=6",
            {"lines": [{"price": 5, "tax": "7"}, {"price": 6}]},
        ),
        (b"card%5Bcvc%5D=5", {"card": {"cvc": 5}}),
    ],
)
def test_deep_object(body, value):
    encoding = dict.fromkeys(["expand", "metadata", "lines", "card"], DEEP)
    assert form(body, encoding) == value


@each(
    ("how", "body", "value"),
    [
        ({"style": "form", "explode": False}, b"numbers=1,2", [1, 2]),
        ({"explode": False}, b"numbers=1,2", [1, 2]),
        ({"style": "pipeDelimited"}, b"numbers=1|2", [1, 2]),
        ({"style": "spaceDelimited"}, b"numbers=1+2", [1, 2]),
        ({"contentType": "application/json"}, b"numbers=%5B1,2%5D", [1, 2]),
        ({"contentType": "text/plain"}, b"numbers=1&numbers=2", [1, 2]),
    ],
)
def test_encoding_of_a_property(how, body, value):
    assert form(body, {"numbers": how}) == {"numbers": value}


def test_without_a_schema_every_field_passes():
    assert form(b"a=1&b=x&b=y&c[d]=2", schema={}) == {"a": "1", "b": ["x", "y"], "c[d]": "2"}


def test_undeclared_fields_are_cast_by_additional_properties():
    schema = {"type": "object", "additionalProperties": INTEGER}
    assert form(b"a=1&b=x", schema=schema) == {"a": 1, "b": "x"}


def test_a_property_named_with_brackets():
    schema = {"properties": {"tags": STRING, "tags[]": {"type": "array"}}}
    assert form(b"tags[]=a&tags=b", schema=schema) == {"tags": "b", "tags[]": ["a"]}


@each(
    ("body", "message"),
    [
        (b"note=%", "^form field 'note': "),
        (b"note=%ff", "^form field 'note': not valid UTF-8"),
        (b"note=\xff", "^form field 'note': not valid UTF-8"),
        (b"other=%", "^form field 'other': "),
        (b"%=1", "^form body: "),
        (b"card[a", "^form field 'card': unbalanced brackets"),
        (b"card={}&cvc=5", "^form field 'card': given both as a value and as its members"),
        (b"a&" * MAX_FIELDS, "^form body: more than 10000 fields"),
    ],
)
def test_form_refuses(body, message):
    with pytest.raises(Malformed, match=message):
        form(body)


BRACKETED_FIELDS = [
    ([("include[]", "a")], {"include": ["a"]}),
    (
        [("include[]", "a"), ("model", "m"), ("include[]", "b")],
        {"include": ["a", "b"], "model": "m"},
    ),
    ([("include[1]", "b"), ("include[0]", "a")], {"include": ["a", "b"]}),
    ([("sizes[]", "1"), ("sizes[]", "x")], {"sizes": [1, "x"]}),
    ([("sizes[0]", "1"), ("sizes[]", "2")], {"sizes": [1, 2]}),
    (
        [("expires_after[anchor]", "7"), ("expires_after[seconds]", "7")],
        {"expires_after": {"anchor": "7", "seconds": 7}},
    ),
    ([("expires_after[days][]", "1")], {"expires_after": {"days": ["1"]}}),
    ([("chunking[type]", "vad")], {"chunking": {"type": "vad"}}),
    ([("chunking", "auto")], {"chunking": "auto"}),
    (
        [("lines[0][price]", "5"), ("lines[1][price]", "6"), ("lines[0][tax]", "7")],
        {"lines": [{"price": 5, "tax": "7"}, {"price": 6}]},
    ),
    (
        [("lines[][price]", "5"), ("lines[][tax]", "7"), ("lines[][price]", "6")],
        {"lines": [{"price": 5, "tax": "7"}, {"price": 6}]},
    ),
    ([("metadata[a]", "1"), ("metadata[0]", "2")], {"metadata": {"a": 1, "0": 2}}),
    ([("metadata[]", "1")], {"metadata": {"": 1}}),
    (
        [("metadata[][a]", "1"), ("metadata[][a]", "2")],
        {"metadata": {"": [{"a": "1"}, {"a": "2"}]}},
    ),
    ([("tags[x]", "1"), ("tags[y]", "2")], {"tags[x]": 1, "tags": {"y": "2"}}),
    ([("tags[x]", "1"), ("tags", "2")], {"tags[x]": 1, "tags": ["2"]}),
    ([("model[]", "m"), ("model", "m")], {"model[]": "m", "model": "m"}),
    ([("other[a]", "1")], {"other[a]": "1"}),
]


@each(("fields", "value"), BRACKETED_FIELDS)
def test_names_with_brackets_mean_the_same_in_both_kinds_of_form(fields, value):
    assert form(urlencode(fields).encode(), schema=BRACKETED) == value
    assert multipart(*((n, v.encode()) for n, v in fields), schema=BRACKETED) == value


@each(
    ("fields", "message"),
    [
        ([("include[]", "a"), ("include", "b")], "'include': given both as a value and with"),
        ([("chunking[a]", "1"), ("chunking[a][b]", "2")], r"'chunking': \[a\] is given both"),
        ([("chunking[a][b]", "1"), ("chunking[a]", "2")], r"'chunking': \[a\] is given both"),
        ([("include[", "a")], r"'include': unbalanced brackets: \["),
        ([("include[]x", "a")], r"'include': unbalanced brackets: \[\]x"),
        ([("include" + "[a]" * 17, "a")], "'include': nested more than 16 deep"),
        ([("metadata[__proto__]", "1")], "'metadata': the name '__proto__' is not allowed"),
        ([("include[1000]", "1")], r"the index \[1000\] is not below 1000"),
    ],
)
def test_ambiguous_brackets_are_refused_in_both_kinds_of_form(fields, message):
    with pytest.raises(Malformed, match=message):
        form(urlencode(fields).encode(), schema=BRACKETED)
    with pytest.raises(Malformed, match=message):
        multipart(*((n, v.encode()) for n, v in fields), schema=BRACKETED)


def test_a_declared_json_encoding_holds_for_lists_and_may_be_written_with_brackets():
    encoding = {"include": {"contentType": JSON}, "chunking": {"contentType": JSON}}
    body = [("include", b'["a", "b"]'), ("chunking", b'{"a": 1}')]
    value = {"include": ["a", "b"], "chunking": {"a": 1}}
    assert multipart(*body, encoding=encoding, schema=BRACKETED) == value
    split = [("include[]", b"a"), ("include[]", b"b"), ("chunking[a]", b"x")]
    value = {"include": ["a", "b"], "chunking": {"a": "x"}}
    assert multipart(*split, encoding=encoding, schema=BRACKETED) == value
    text = urlencode([(name, content.decode()) for name, content in split]).encode()
    assert form(text, encoding=encoding, schema=BRACKETED) == value


@each(
    ("field", "message"),
    [
        (("n", b"\xff"), "^form part 'n': not valid UTF-8"),
        (("meta", b"{", None, JSON), "^form part 'meta': not valid JSON"),
        (("meta", b'{"a":1,"a":2}', None, JSON), "^form part 'meta': .* repeated name"),
        (("text", b"x" * (MAX_TEXT + 1)), "^form part 'text': text of more than 1048576 bytes"),
    ],
)
def test_multipart_refuses(field, message):
    with pytest.raises(Malformed, match=message):
        multipart(field)


@given(st.dictionaries(st.text(), st.text()))
def test_fields_round_trip(fields):
    assert form(urlencode(fields).encode(), schema={}) == fields


deep = st.recursive(
    st.text(min_size=1),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b c", "é"]), inner, min_size=1, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["card", "lines"]), deep))
def test_nested_fields_round_trip(value):
    def flat(prefix, node):
        if isinstance(node, str):
            return [f"{quote_plus(prefix)}={quote_plus(node)}"]
        pairs = enumerate(node) if isinstance(node, list) else node.items()
        return [line for key, sub in pairs for line in flat(f"{prefix}[{key}]", sub)]

    body = "&".join(line for name, node in value.items() for line in flat(name, node))
    schema = {"properties": {"card": {}, "lines": {}}}
    assert form(body.encode(), {"card": DEEP, "lines": DEEP}, schema) == value


@given(st.one_of(st.binary(), st.text(st.sampled_from("card[]ab=&%4+")).map(str.encode)))
def test_any_form_is_read_or_malformed(body):
    with suppress(Malformed):
        assert isinstance(form(body, {"card": DEEP}), dict)


def test_the_loop_turns_between_fields_that_are_many():
    body = "&".join(f"other{number}=1" for number in range(2_000)).encode()
    assert loop_turns(lambda: form(body)) >= 2 * 2_000  # they are split, and looked at
