"""The target of a request to an upstream."""

from __future__ import annotations

import pytest

from engine.values.upstream_request import UpstreamRequest


@pytest.mark.parametrize(("query", "target"), [("", "/a%20b"), ("x=1&y", "/a%20b?x=1&y")])
def test_the_target_is_path_and_query(query: str, target: str) -> None:
    assert UpstreamRequest("GET", "h", "/a%20b", query, [], None).target == target
