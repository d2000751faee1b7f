"""Differences as text, JSON and annotations of GitHub."""

import json

from engine.offline.diff import formats
from engine.offline.diff.difference import Difference, Effect
from engine.source.problem import Place

HEAD = "| where | what | change |\n|---|---|---|"
WEAKER = Difference(
    Effect.WEAKER, "policy-removed", Place("g.yaml", 3, 5), ("shop.chat", "shop.show"), "no limit"
)
BREAKING = Difference(Effect.BREAKING, "path-removed", Place("s.yaml", 9, 1), ("shop.say",), "gone")
ADDED = Difference(Effect.ADDED, "token-added", Place("g.yaml", 7, 1), ("token a",), "a new token")


def test_text_has_a_line_for_each_and_the_summary():
    assert formats.as_text([WEAKER, ADDED]).splitlines() == [
        "g.yaml:3:5: weaker: shop.chat, shop.show: no limit [policy-removed]",
        "g.yaml:7:1: added: token a: a new token [token-added]",
        "1 weaker, 1 added",
    ]


def test_text_has_no_control_characters():
    evil = Difference(Effect.ADDED, "token-added", Place("g.yaml", 1, 1), ("a",), "x\x1b[31m")
    assert "\x1b" not in formats.as_text([evil])


def test_the_summary_counts_the_gravest_first():
    assert formats.summary([ADDED, BREAKING, ADDED, WEAKER]) == "1 weaker, 1 breaking, 2 added"
    assert formats.summary([]) == "no difference"


def test_json_has_counts_places_and_subjects():
    document = json.loads(formats.as_json([WEAKER]))
    assert document == {
        "counts": {"weaker": 1, "breaking": 0, "removed": 0, "changed": 0, "added": 0},
        "differences": [
            {
                "level": "weaker",
                "kind": "policy-removed",
                "file": "g.yaml",
                "line": 3,
                "column": 5,
                "subjects": ["shop.chat", "shop.show"],
                "message": "no limit",
            }
        ],
    }


def test_an_annotation_is_an_error_a_warning_or_a_notice():
    *lines, summary = formats.as_github([WEAKER, BREAKING, ADDED]).splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning", "::notice"]
    assert lines[0].endswith(",title=weaker%3A policy-removed::shop.chat, shop.show: no limit")
    assert summary == "1 weaker, 1 breaking, 1 added"


def test_a_comment_shows_what_is_weaker_and_folds_the_rest():
    assert formats.as_markdown([WEAKER, ADDED]).split("\n\n") == [
        "**modelway diff**: 1 weaker, 1 added",
        "<details open><summary>Weaker: less protection</summary>",
        f"{HEAD}\n| `g.yaml:3` | `shop.chat, shop.show` | `no limit` |",
        "</details>",
        "<details><summary>Added</summary>",
        f"{HEAD}\n| `g.yaml:7` | `token a` | `a new token` |",
        "</details>",
    ]


def test_no_text_of_a_file_is_markdown_in_a_comment():
    evil = Difference(Effect.ADDED, "k", Place("g.yaml", 0, 0), ("a|b",), "`@all` <img>\n# x")
    assert "| `g.yaml` | `a\\|b` | `'@all' <img>␊# x` |" in formats.as_markdown([evil])


def test_a_comment_has_an_end():
    rows = formats.as_markdown([ADDED] * 1000).splitlines()
    assert len(rows) < 250
    assert "| | | and 800 more |" in rows
