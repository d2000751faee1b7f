"""The edits of a route are stages where the config has some."""

from __future__ import annotations

from engine.app.routes.transform_stages import edit_stage, transform_stage
from tests.app.routes.test_stage_cache_handlers import BY_MODEL, Project

EDITS = {**BY_MODEL, "policies": [{"transform": {"request": {"body": {"set": {"messages": []}}}}}]}


def test_a_route_without_edits_has_no_stage(tmp_path):
    project = Project(tmp_path)
    parts = project.parts()
    assert [transform_stage(route, parts, 0) for route in project.plan.routes] == [[], []]


def test_edits_are_one_stage_that_equal_routes_share(tmp_path):
    project = Project(tmp_path, EDITS, BY_MODEL)
    parts, (route, other) = project.parts(), project.plan.routes
    assert len(transform_stage(route, parts, 0)) == 1
    assert transform_stage(other, parts, 0) == []
    configs = route.guards.transforms
    assert edit_stage(configs, route, parts) is edit_stage(configs, route, parts)
