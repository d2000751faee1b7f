"""A plan becomes one application: its routes and its pages."""

import pytest
from msgspec.structs import replace

from engine.app.build import build
from engine.app.services.worker_services import services_of
from engine.translations.vendors.model_parameters import facts
from tests.support.project_app import TOKEN, ProjectApp
from tests.support.rehearsing import CONFIG, planned

TURNS = [{"role": "user"}]


def test_a_request_of_a_route_goes_to_its_upstream(tmp_path):
    built = ProjectApp(tmp_path)
    assert built.chat(model="big", messages=TURNS).status_code == 200
    assert [request.url for request in built.requests] == ["http://main.test/base/v1/chat"]


def test_an_operation_without_a_route_is_not_found(tmp_path):
    built = ProjectApp(tmp_path)
    assert built.client.simulate_get("/v1/hidden", headers=TOKEN).status_code == 404
    assert built.requests == []


@pytest.mark.parametrize(("console", "status"), [("true", 200), ("false", 404)])
def test_the_console_is_served_where_the_config_enables_it(tmp_path, console, status):
    built = ProjectApp(tmp_path, f"{CONFIG}console: {{enabled: {console}}}\n")
    assert built.client.simulate_get("/docs").status_code == status


def test_the_services_are_closed_with_the_application(tmp_path):
    closed = []
    ProjectApp(tmp_path, closing=[lambda: closed.append(True)]).app.close()
    assert closed == [True]


def test_a_worker_makes_the_handler_of_a_route_once_at_its_first_request(tmp_path):
    routes = []

    def note(route, stages):
        routes.append(route.operation.name)
        return stages

    built = ProjectApp(tmp_path, wrap_stages=note)
    assert routes == []
    for _ in range(2):
        assert built.chat(model="big", messages=TURNS).status_code == 200
    assert routes.count("chat") == 1


@pytest.mark.parametrize(
    ("dialect", "background", "expected"),
    [("    dialect: openai\n", True, 1), ("    dialect: openai\n", False, 0), ("", True, 0)],
)
def test_a_worker_reads_at_its_start_what_models_of_its_targets_accept(
    tmp_path, dialect, background, expected
):
    config = CONFIG.replace("    timeouts:", f"{dialect}    timeouts:")
    plan = planned(tmp_path, config).plan
    facts.cache_clear()
    build(plan, replace(services_of(plan), background=background)).close()
    assert facts.cache_info().currsize == expected


@pytest.mark.parametrize("most", [1, 1000])
def test_a_trial_makes_every_handler_and_of_thousands_the_first(tmp_path, monkeypatch, most):
    monkeypatch.setattr("engine.app.build.MAX_MADE", most)
    routes = []
    plan = planned(tmp_path, CONFIG).plan
    services = replace(services_of(plan), background=False)
    app = build(plan, services, wrap_stages=lambda route, stages: routes.append(route) or stages)
    assert len(plan.routes) > 1
    assert routes == [*plan.routes][:most]
    app.close()
