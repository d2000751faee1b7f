"""`modelway routes`: a line for each path."""

from engine.plan.make import make_plan
from engine.source import files
from tests.support.commands import modelway


def test_routes_lists_paths_with_targets_and_policies(folder):
    result = modelway("routes")
    assert result.exit_code == 0
    heading, *rows = [line.rstrip() for line in result.output.splitlines()]
    assert " ".join(heading.split()) == "METHOD PATH OPERATION MODEL FROM GOES TO GUARDS"
    assert [row.split()[:3] for row in rows] == [
        ["GET", "/v1/items", "shop.list"],
        ["GET", "/v1/more", "shop.more"],
    ]
    assert "main" in rows[0]
    assert "token" in rows[0]


def test_routes_of_the_shipped_config_has_a_line_for_each_path():
    result = modelway("routes", "-c", str(files.CONFIG))
    planned = make_plan(files.CONFIG, {})
    paths = [template for route in planned.plan.routes for template, _ in route.templates]
    for path in paths:
        assert path in result.output
    assert "gpt-image-1" in result.output
    assert "websocket" in result.output
