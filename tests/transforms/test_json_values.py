"""Values for bodies: texts are templates, and a value is encoded once where it can be."""

import pytest

from engine.transforms.json_values import JsonValue
from engine.transforms.template import TemplateValues, parse
from engine.values.caller import Caller
from tests.support.exchanges import new_exchange

VALUES = TemplateValues(new_exchange(query="q=%22%7D", caller=Caller("alice")))


def compiled(value):
    return JsonValue(value, lambda text: parse(text, upstream=False))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, b"null"),
        (True, b"true"),
        (1.5, b"1.5"),
        ("{{é}}", '"{é}"'.encode()),
        ([{"a": "x"}, 1], b'[{"a":"x"},1]'),
    ],
)
def test_a_value_without_names_is_constant(value, text):
    assert compiled(value).constant == compiled(value).fill(VALUES) == text


def test_names_are_filled_in_as_text():
    value = compiled({"{a}": ["by {token.name}", "{request.query.q}"]})
    assert value.constant is None
    assert value.fill(VALUES) == b'{"{a}":["by alice","\\"}"]}'


@pytest.mark.parametrize("value", ["{model}", ["{model}"], {"a": {"b": "{model}"}}])
def test_a_value_whose_template_has_none_is_missing(value):
    assert compiled(value).fill(VALUES) is None


@pytest.mark.parametrize("value", [10**30, float("inf"), [float("nan")]])
def test_values_that_json_cannot_represent_are_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        compiled(value)
