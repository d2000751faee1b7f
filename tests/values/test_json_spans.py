"""Where a value stands in JSON text: what span() finds is what a JSON parser sees there."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.values.json_spans import Ambiguous, span, spans

KEYS = st.one_of(
    st.sampled_from(["model", "a", "", "0", "a/b", '"', "\\", "mödel"]), st.text(max_size=4)
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(
        [
            '"model":',
            '{"model": 1}',
            "}",
            "]",
            "\\",
            "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
        ]
    ),
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda below: st.one_of(st.lists(below, max_size=4), st.dictionaries(KEYS, below, max_size=4)),
    max_leaves=15,
)


def pointers(value, at=()):
    """Every pointer that leads somewhere in a document."""
    yield at
    if isinstance(value, dict):
        for key, below in value.items():
            yield from pointers(below, (*at, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from pointers(below, (*at, str(index)))


def at_pointer(value, pointer):
    for step in pointer:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


@st.composite
def places(draw):
    """A document, its text with some spacing and escaping, and a pointer into it."""
    document = draw(DOCUMENTS)
    text = json.dumps(
        document,
        indent=draw(st.sampled_from([None, 0, 2, "\t"])),
        ensure_ascii=draw(st.booleans()),
        separators=draw(st.sampled_from([(",", ":"), (" , ", " : "), (",", ": ")])),
    ).encode()
    return document, text, draw(st.sampled_from(list(pointers(document))))


@given(places())
@example(({"model": "a"}, b'{"model": "a"}', ("model",)))
@example(({"x": '"model":', "model": "a"}, b'{"x": "\\"model\\":", "model": "a"}', ("model",)))
@example(({"x": {"model": "b"}, "model": "a"}, b'{"x":{"model":"b"},"model":"a"}', ("model",)))
def test_span_finds_what_a_parser_sees(place):
    document, text, pointer = place
    start, end = span(text, pointer)
    assert json.loads(text[start:end]) == at_pointer(document, pointer)
    assert text[start:end] == text[start:end].strip()


@given(places(), st.text(max_size=5))
def test_replacing_a_span_changes_that_value_and_no_other(place, new):
    document, text, pointer = place
    start, end = span(text, pointer)
    changed = json.loads(text[:start] + json.dumps(new).encode() + text[end:])
    expected = json.loads(json.dumps(document))
    if not pointer:
        expected = new
    else:
        holder = at_pointer(expected, pointer[:-1])
        holder[int(pointer[-1]) if isinstance(holder, list) else pointer[-1]] = new
    assert changed == expected


@given(DOCUMENTS, st.lists(KEYS, min_size=1, max_size=3).map(tuple))
def test_a_pointer_that_leads_nowhere_has_no_span(document, pointer):
    exists = pointer in set(pointers(document))
    if not exists:
        assume_checked = json.dumps(document).encode()
        # The quick way trusts its caller that a one-step pointer does exist at the top.
        if len(pointer) > 1 or not isinstance(document, dict | list):
            assert span(assume_checked, pointer) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"model":"a","model":"b"}',
        '{"model":"a","x":{"model":1},"model":"b"}',
        '{"model":"a","mod\\u0065l":"b"}',
        '{"mod\\u0065l":"a","model":"b"}',
        '{"\\u006dodel":"a","\\u006Dodel":"b"}',
        '{"model":"a","model":1}',
        '{"model":1,"model":"a"}',
        '{"model":null,"model":null}',
        '{"model":{"a":1},"model":[]}',
        '{"model" :\t"a"\n,\r\n"model":"b"}',
    ],
)
def test_a_repeated_key_is_ambiguous_however_it_is_spelt(text):
    with pytest.raises(Ambiguous):
        span(text.encode(), ("model",))


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('{"a":{"model":1,"model":2}}', ("a", "model")),
        ('{"a":{"model":1},"a":{"model":2}}', ("a", "model")),
        ('{"a":{"x":1},"a":{"model":2}}', ("a", "model")),
        ('{"a":{"model":2},"a":7}', ("a", "model")),
        ('{"a":[{"m":1,"m":2}]}', ("a", "0", "m")),
    ],
)
def test_a_repeated_key_anywhere_on_the_way_is_ambiguous(text, pointer):
    with pytest.raises(Ambiguous):
        span(text.encode(), pointer)


@pytest.mark.parametrize(
    "text",
    [
        '{"x":{"model":1,"model":2},"model":"a"}',
        '{"x":[{"model":"b"}],"model":"a"}',
        '{"x":"model","model":"a"}',
        '{"model":"a","x":"\\"model\\":\\"b\\""}',
        '{"mod\\u0065l":"a"}',
        '{"MODEL":"b","model":"a"}',
        '{"model ":"b","model":"a"}',
    ],
)
def test_the_same_name_elsewhere_is_no_repetition(text):
    start, end = span(text.encode(), ("model",))
    assert text[start:end] == '"a"'


@pytest.mark.parametrize(
    "value", ['"a"', '"\\""', '"\\\\"', '"é"', '"\\u00e9"', "1", "null", "[]", '{"a":1}']
)
def test_the_value_may_be_of_any_kind(value):
    text = f'{{ "x" : 1 , "model" : {value} , "y" : "\\u0041" }}'.encode()
    start, end = span(text, ("model",))
    assert text[start:end] == value.encode()


def test_a_decoy_in_a_nested_object_alone_is_found_by_no_pointer_from_the_top():
    """The caller must know that the key exists, or the text must say nothing of it."""
    assert span(b'{"a": {"m": 1}, "b": 2}', ("m",)) is None


def test_ten_thousand_levels_beside_the_value_are_no_trouble():
    deep = "[" * 10_000 + "]" * 10_000
    text = f'{{"a":{deep},"model":"x","b":{deep},"c":{{"model":1}}}}'.encode()
    start, end = span(text, ("model",))
    assert text[start:end] == b'"x"'


def test_strings_with_a_million_escapes_are_no_trouble():
    text = b'{"x":"' + b"\\\\" * 1_000_000 + b'","model":"m","y":{"model":2}}'
    start, end = span(text, ("model",))
    assert text[start:end] == b'"m"'


@pytest.mark.parametrize(
    ("text", "pointer", "values"),
    [
        ('{"r":[{"m":"a"},{"m":"b"}]}', ("r", "*", "m"), ['"a"', '"b"']),
        ('{"r":[{"m":"a"},{"x":1},7,null,{"m":"b"}]}', ("r", "*", "m"), ['"a"', '"b"']),
        ('{"r":[]}', ("r", "*", "m"), []),
        ('{"r":{"m":"a"}}', ("r", "*", "m"), []),
        ('{"r":[[{"m":1}],[{"m":2},{"m":3}]]}', ("r", "*", "*", "m"), ["1", "2", "3"]),
        ("{}", ("r", "*", "m"), []),
    ],
)
def test_a_star_stands_for_every_item_of_an_array(text, pointer, values):
    assert [text[start:end] for start, end in spans(text.encode(), pointer)] == values


@pytest.mark.parametrize(
    "text", ['{"r":[{"m":"a","m":"b"}]}', '{"r":[{"m":"a"}],"r":[]}', '{"r":[],"r":[{"m":"a"}]}']
)
def test_a_repeated_key_is_ambiguous_below_a_star_too(text):
    with pytest.raises(Ambiguous):
        spans(text.encode(), ("r", "*", "m"))
