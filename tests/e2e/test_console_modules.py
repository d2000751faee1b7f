"""The modules of the playground in the browser: server-sent events, Markdown, formats."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.running import Platform

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)


@pytest.fixture(scope="module")
def parts(page: Driver, console: Platform) -> Driver:
    """The browser at the playground, whose modules can be imported."""
    page.open(console.url + "/console/playground")
    return page


def using(page: Driver, module: str, expression: str, *arguments: Any) -> Any:
    """The value of an expression in which `m` is a module of the playground, `a` the arguments."""
    values = json.dumps(arguments)
    return page.run(
        f"import('/console/page/playground/{module}.js').then((m) => {{ const a = {values};"
        f" return {expression} }})"
    )


READ = (
    "(() => { const e = new m.Events();"
    " return a[0].flatMap((text) => e.push(text)).map((event) => event.data) })()"
)


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("data: a\n\ndata: b\n\n", ["a", "b"]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        ("data: a\r\rdata: b\r\r", ["a", "b"]),
        ("data:a\ndata:  b\n\n", ["a\n b"]),
        (": comment\n\nevent: x\nid: 1\nretry: 2\ndata: a\n\n", ["a"]),
        ("event: x\n\n", []),
        ("data\n\n", [""]),
        ("data: a\u2028b\n\n", ["a\u2028b"]),
        ("data: unfinished", []),
        ("data: x: y\n\n\n\n", ["x: y"]),
    ],
)
def test_events_in_any_pieces(parts: Driver, text: str, events: list[str]) -> None:
    assert using(parts, "sse", READ, [text]) == events
    assert using(parts, "sse", READ, list(text)) == events
    for cut in range(1, len(text)):
        assert using(parts, "sse", READ, [text[:cut], text[cut:]]) == events


SHOW = (
    "(() => { const root = document.createElement('div'); const view = new m.Markdown(root);"
    " for (const text of a[0]) view.show(text); root.normalize();"
    " root.querySelectorAll('.code-head').forEach((node) => node.remove());"
    " const shape = (node) => node.nodeType === 3 ? node.data :"
    " [[node.localName, node.getAttribute('href')].filter(Boolean).join(' '),"
    "  ...[...node.childNodes].map(shape)];"
    " return [...root.childNodes].map(shape) })()"
)


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("plain", [["p", "plain"]]),
        ("a\n\nb", [["p", "a"], ["p", "b"]]),
        ("# H #1", [["h2", "H #1"]]),
        ("#no", [["p", "#no"]]),
        (
            "a **b** *c* ~~d~~ `e`",
            [["p", "a ", ["strong", "b"], " ", ["em", "c"], " ", ["del", "d"], " ", ["code", "e"]]],
        ),
        ("***x***", [["p", ["strong", ["em", "x"]]]]),
        ("snake_case_name 2 * 3 * 4", [["p", "snake_case_name 2 * 3 * 4"]]),
        ("**open", [["p", "**open"]]),
        ("\\*x\\*", [["p", "*x*"]]),
        ("[a](https://b.c/d_(e))", [["p", ["a https://b.c/d_(e)", "a"]]]),
        ("[a](javascript:x)", [["p", "[a](javascript:x)"]]),
        ("[a](/x)", [["p", "[a](/x)"]]),
        ("see https://a.b/c.", [["p", "see ", ["a https://a.b/c", "https://a.b/c"], "."]]),
        ("![p](https://a.b/)", [["p", ["a https://a.b/", "p"]]]),
        (
            "- a\n- b\n  - c",
            [["ul", ["li", ["p", "a"]], ["li", ["p", "b"], ["ul", ["li", ["p", "c"]]]]]],
        ),
        ("3. a\n4. b", [["ol", ["li", ["p", "a"]], ["li", ["p", "b"]]]]),
        ("> a\n> b", [["blockquote", ["p", "a\nb"]]]),
        ("```js\n<b>\n```\nx", [["div", ["pre", ["code", "<b>"]]], ["p", "x"]]),
        ("```\nopen", [["div", ["pre", ["code", "open"]]]]),
        ("a\n---\nb", [["p", "a"], ["hr"], ["p", "b"]]),
        ("<b>x</b> &amp;", [["p", "<b>x</b> &amp;"]]),
    ],
)
def test_markdown_becomes_nodes(parts: Driver, text: str, nodes: list[Any]) -> None:
    assert using(parts, "markdown", SHOW, [text]) == nodes


@pytest.mark.parametrize(
    "text",
    [
        "# Head\n\ntext **bold** and\nmore\n\n```py\nprint(1)\n\nprint(2)\n```\n\n- a\n- b\n\nend",
        "| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n\n> quote\n\n1. x\n2. y",
    ],
)
def test_growing_text_gives_the_same_nodes_as_complete_text(parts: Driver, text: str) -> None:
    grown = [text[:end] for end in range(1, len(text) + 1)]
    assert using(parts, "markdown", SHOW, grown) == using(parts, "markdown", SHOW, [text])


@pytest.mark.parametrize(
    "text",
    ["*" * 200_000, "[" * 100_000, "`" * 99_999 + "x", "_a " * 60_000, "- " * 50_000, "> " * 50_000,
     "|" * 100_000 + "\n" + "|-" * 50_000, "((" * 50_000 + "[x](" * 20_000, "https://" * 20_000],
    ids=range(9),
)  # fmt: skip
def test_hostile_markdown_is_fast(parts: Driver, text: str) -> None:
    timed = f"(() => {{ const t = performance.now(); {SHOW}; return performance.now() - t }})()"
    assert using(parts, "markdown", timed, [text]) < 1000


READ_ALL = (
    "import('/console/page/playground/reply.js').then(({Reply}) => { const r = new Reply(() => 0);"
    " for (const data of a[0]) m.read(data, r);"
    " return [r.text, r.reasoning, r.calls.map((c) => [c.name, c.input]), r.usage, r.finished] })"
)


def test_a_complete_message_is_read(parts: Driver) -> None:
    answer = {
        "type": "message",
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "yes"},
            {"type": "tool_use", "name": "f", "input": {"x": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 2, "output_tokens": 5},
    }
    usage = {"input": 5, "cached": 2, "output": 5}
    expected = ["yes", "hm", [["f", '{"x":1}']], usage, "tool_use"]
    assert using(parts, "messages", READ_ALL, [answer]) == expected


def test_a_complete_generated_content_is_read(parts: Driver) -> None:
    content = [{"text": "hm", "thought": True}, {"text": "yes"}, {"functionCall": {"name": "f"}}]
    answer = {
        "candidates": [{"content": {"parts": content}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 3,
            "candidatesTokenCount": 4,
            "thoughtsTokenCount": 2,
            "totalTokenCount": 9,
        },
    }
    usage = {"input": 3, "output": 6, "reasoning": 2}
    expected = ["yes", "hm", [["f", "{}"]], usage, "STOP"]
    assert using(parts, "generate", READ_ALL, [answer]) == expected


def test_python_literals_evaluate_to_the_value(parts: Driver) -> None:
    value = {"a": [True, None, 1.5, 'it\'s "x"\n'], "b": {}, "long": ["x" * 60, "y" * 60]}
    text = using(parts, "program", "m.python(a[0])", value)
    assert eval(text) == value
