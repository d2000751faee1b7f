"""The list of models in each dialect, page by page."""

import pytest

from engine import dialects
from engine.dialects import ModelCard
from engine.values.errors import GatewayError
from tests.support.dialects import listed

NOT_NUMBERS = ["-1", "x", "1.5", "1e2", "٣", "²", " 5", "9" * 30, "9" * 10 + "1"]


@pytest.mark.parametrize(
    ("name", "key", "bad"),
    [
        *(("anthropic", "limit", bad) for bad in ("0", "1001", "9" * 9 + "1", *NOT_NUMBERS)),
        *(("gemini", "pageSize", bad) for bad in NOT_NUMBERS),
    ],
)
def test_an_invalid_page_size_is_refused(name, key, bad):
    with pytest.raises(GatewayError) as excinfo:
        listed(name, **{key: bad})
    assert (excinfo.value.status, excinfo.value.param) == (400, key)


@pytest.mark.parametrize(("name", "key"), [("anthropic", "limit"), ("gemini", "pageSize")])
def test_an_empty_page_size_is_the_default(name, key):
    assert listed(name, **{key: ""}) == listed(name)


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("anthropic", {"max_input_tokens": 200_000, "max_tokens": 64_000}),
        ("gemini", {"inputTokenLimit": 200_000, "outputTokenLimit": 64_000}),
        ("openai", {}),
    ],
)
def test_the_limits_of_a_model_are_shown_where_the_dialect_has_a_place(name, members):
    show = dialects.get(name).model
    limited = show(ModelCard("m", "M", "me", 5, context=200_000, output=64_000))
    assert limited == show(ModelCard("m", "M", "me", 5)) | members
