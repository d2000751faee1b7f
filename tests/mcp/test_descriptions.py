"""Descriptions are plain, of one paragraph, and bounded."""

from hypothesis import given
from hypothesis import strategies as st

from engine.mcp.descriptions import MAX_DESCRIPTION, plain_text
from tests.support.each import each
from tests.support.tool_plans import DOCUMENT, shop_plan, shop_tools


@each(
    ("text", "most", "plain"),
    [
        ("<p>Get <b>it</b> &amp; go.</p>\n\n- now", 100, "Get it & go. - now"),
        ("See [the page](https://x.example.com/a?b) now", 100, "See the page now"),
        ("1 < 2 and 3 > 2", 100, "1 < 2 and 3 > 2"),
        ("a\u200bb\u202ec\U000e0041", 100, "abc"),
        ("\u2764\ufe0f", 100, "\u2764\ufe0f"),
        ("First sentence here. Second sentence is long.", 30, "First sentence here."),
        ("one two three four five six", 20, "one two three..."),
        ("x" * 50, 20, "x" * 17 + "..."),
        ("", 20, ""),
    ],
)
def test_a_text_is_plain(text, most, plain):
    assert plain_text(text, most) == plain


@given(st.text(max_size=400), st.integers(10, 100))
def test_no_text_is_longer_than_it_may_be(text, most):
    assert len(plain_text(text, most)) <= most


def test_a_description_is_the_summary_and_the_description(tmp_path):
    tools = shop_tools(shop_plan(tmp_path))
    assert tools["getOrder"].title == "Get an order"
    assert tools["getOrder"].description == "Get an order. It is found by its id."
    assert (tools["form"].title, tools["form"].description) == ("", "POST /forms")


def test_a_description_is_bounded(tmp_path):
    long = DOCUMENT.replace("summary: Get an order", f"summary: {'word ' * 900}")
    tool = shop_tools(shop_plan(tmp_path, long))["getOrder"]
    assert len(tool.description) <= MAX_DESCRIPTION
    assert tool.description.startswith("word word")


def test_the_config_replaces_what_models_read(tmp_path):
    changes = {"shop.getOrder": {"title": "T", "description": "D", "read_only": False}}
    tool = shop_tools(shop_plan(tmp_path, tools=changes))["getOrder"]
    assert (tool.title, tool.description) == ("T", "D")
    assert tool.annotations["readOnlyHint"] is False


def test_the_annotations_follow_the_method(tmp_path):
    tools = shop_tools(shop_plan(tmp_path))
    assert tools["getOrder"].annotations == {"readOnlyHint": True, "openWorldHint": True}
    assert tools["deleteOrder"].annotations == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": True,
        "openWorldHint": True,
    }
    assert tools["createOrder"].annotations == {
        "readOnlyHint": False,
        "idempotentHint": False,
        "openWorldHint": True,
    }
