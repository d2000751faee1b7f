"""A plan as a value, and the result of planning."""

import re
from pathlib import Path

from msgspec.structs import replace

from engine.config.schema_check import gateway_validator
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import PlanResult
from tests.plan.conftest import CONFIG, DOCUMENT
from tests.test_staircase import ENGINE


def test_the_hash_depends_on_paths_and_contents_and_not_on_their_order():
    one, two = Path("a.yaml"), Path("b.yaml")
    ab = PlanResult(files={one: "1", two: "2"})
    assert ab.hash == PlanResult(files={two: "2", one: "1"}).hash
    assert ab.hash != PlanResult(files={one: "2", two: "1"}).hash
    assert len(ab.hash) == 12


def test_a_served_plan_has_no_texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.yaml").write_text(DOCUMENT)
    plan = make_plan(Path("gateway.yaml"), {}, CONFIG).plan
    document = plan.specifications["api"].library.documents[0]
    assert plan.config.source.text
    assert document.text
    validator = gateway_validator()
    served = plan.served()
    assert gateway_validator() is not validator
    assert (served.config.source.text, served.config.source.value, document.text) == ("", None, "")
    assert served.config.routes == ()
    assert served.routes == plan.routes
    assert document.value["openapi"] == "3.1.0"


def test_what_serves_does_not_read_the_routes_of_the_config():
    """A served plan has none there."""
    planning = ("config", "plan", "offline", "cli")
    readers = [
        path.relative_to(ENGINE).as_posix()
        for path in ENGINE.rglob("*.py")
        if path.relative_to(ENGINE).parts[0] not in planning
        and re.search(r"(?<!engine\.)config\.routes", path.read_text())
    ]
    assert readers == []


def test_a_plan_has_the_operations_of_its_models_until_it_has_other_models(routes):
    plan = make_plan(Path("gateway.yaml"), {}, CONFIG).plan
    assert plan is not None
    assert plan.model_operations() is plan.served().model_operations()
    other = {"other": replace(plan.config.models["m"], name="other")}
    changed = replace(plan, config=replace(plan.config, models=other))
    assert len(changed.model_operations().of("other")) == 2
    config = replace(plan.config, upstreams=dict(plan.config.upstreams))
    assert replace(plan, config=config).model_operations() is not plan.model_operations()
