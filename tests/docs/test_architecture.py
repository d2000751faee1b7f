"""The order of a request's stages in the page of the architecture, in its picture and in
CONTRIBUTING is that of `handler_of`."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from engine import policies
from engine.app.routes.route_handler import handler_of
from engine.app.routes.worker_parts import parts_of
from engine.edge.inside_call import InsideCalls
from engine.offline.rehearsal.observation import UpstreamAnswers
from engine.offline.rehearsal.rehearse import stage_name
from engine.offline.rehearsal.stand_ins import placeholder, recorder
from tests.support import yaml_text
from tests.support.paths import ROOT
from tests.support.rehearsing import CONFIG, planned
from tests.support.upstreams import SERVICES

PAGE = ROOT / "docs" / "explanation" / "architecture.md"
PICTURE = PAGE.with_suffix(".svg")
_SVG = "{http://www.w3.org/2000/svg}"
OF_ROUTE = [
    {"token_budget": {"tokens": 9, "per": "1m"}},
    {"allow_models": ["*"]},
    {"deny": {"if": {"header": {"x-a": "1"}}}},
    {"transform": {"request": {"header": {"set": {"x-a": "1"}}}}},
    {"deny": {"if": {"header": {"x-a": "2"}}}},
    {"transform": {"request": {"header": {"set": {"x-a": "2"}}}}},
    {"allow_ips": ["0.0.0.0/0"]},
    {"max_body": "1KB"},
]
"""Policies of every kind, in an order in which they do not run."""


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The stages of a route with everything, as the page calls them: neighbours of a name once."""
    config = yaml_text.load(CONFIG)
    config["routes"][0]["policies"] = OF_ROUTE
    folder = tmp_path_factory.mktemp("project")
    plan = planned(folder, yaml.safe_dump(config)).plan
    assert plan is not None
    names: list[str] = []

    def note(route, route_stages):  # type: ignore[no-untyped-def]
        if route.operation.id == "shop.chat":
            names.extend(map(stage_name, route_stages))
        return route_stages

    parts = parts_of(
        *(plan, SERVICES, recorder([], UpstreamAnswers()), placeholder, note, InsideCalls())
    )
    for route in plan.routes:
        handler_of(route, parts)
    of_policies = {*policies.names()}
    called = ["policies" if name in of_policies else name.replace("_", " ") for name in names]
    return [name for name, _ in groupby(called)]


def test_the_route_has_every_stage_that_a_route_can_have(stages: list[str]) -> None:
    """Besides `report`, which looks at responses only, `computing_turn`, which only
    heavy workers have, `open_sealed`, `judge_batch`, `keep_upload`, `stream_body`,
    `copy_files` and `stored_responses`, which only operations with objects have, `client_secret`,
    which only realtime sessions have, `token_carriers`, which authenticate reads,
    and `alternatives`, before the stages, with what it tries."""
    modules = {path.stem for path in (ROOT / "engine" / "stages").glob("[a-z]*.py")}
    named = {name.replace(" ", "_") for name in stages}
    others = {
        "token_carriers",
        "report",
        "computing_turn",
        "open_sealed",
        "judge_batch",
        "keep_upload",
        "stream_body",
        "copy_files",
        "open_sealed_summaries",
        "stored_responses",
        "client_secret",
        "transform",
        "alternatives",
        "alternative_operation",
    }
    assert modules - named - others == set()


def test_the_page_lists_the_stages_in_their_order(stages: list[str]) -> None:
    listed = re.findall(r"^\d+\. \*\*(.+?)\*\*", PAGE.read_text("utf-8"), re.MULTILINE)
    assert listed == [*stages, "forward", "relay"]


def test_the_picture_draws_the_stages_in_their_order(stages: list[str]) -> None:
    root = ElementTree.parse(PICTURE).getroot()
    texts = [text for text in root.iter(f"{_SVG}text") if text.get("font-size") == "14"]
    column = sorted((float(t.get("y", "")), t.text or "") for t in texts if t.get("x") == "440")
    drawn = [name for _, title in column for name in title.split(", ")]
    assert drawn == ["HTTP/1.1", *stages, "forward", "relay"]


def test_contributing_names_the_modules_in_the_order_of_the_stages(stages: list[str]) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    steps = text[text.index("## Follow one request") : text.index("## Commands")]
    steps = steps[steps.index("\n5. ") :]
    names = [
        Path(name).stem
        for name in re.findall(r"`(?:(?:stages|upstream)/(?:[a-z]+/)?)?([a-z_]+(?:\.py|/))`", steps)
    ]
    known = {name.replace(" ", "_") for name in stages} | {"forward", "relay"}
    named = [name.replace("_", " ") for name in names if name in known]
    assert [name for name, _ in groupby(named)] == [*stages, "forward", "relay"]


def test_contributing_says_who_makes_the_request_of_an_attempt() -> None:
    """Names of what `upstream/` does, where CONTRIBUTING names the module that does it."""
    attempt = (ROOT / "engine" / "upstream" / "attempts" / "attempt.py").read_text("utf-8")
    assert "The credential is added here." in attempt
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert "`attempts/attempt.py` adds the credential" in " ".join(text.split())
