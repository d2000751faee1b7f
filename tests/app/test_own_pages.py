"""The gateway's own pages: metrics and health beside the API, or by a listener of their own."""

import pytest
from falcon.testing import TestClient

from tests.support.project_app import ProjectApp
from tests.support.rehearsing import CONFIG


def test_the_listener_of_health_serves_no_route(tmp_path):
    client = TestClient(ProjectApp(tmp_path).app.telemetry)
    assert client.simulate_get("/healthz").status_code == 200
    refusal = client.simulate_get("/v1/items/7")
    assert refusal.status_code == 404
    assert "This is telemetry.listen" in refusal.json["error"]["message"]


@pytest.mark.parametrize("listen", ["public", "off"])
def test_there_is_no_application_for_a_listener_that_does_not_exist(tmp_path, listen):
    built = ProjectApp(tmp_path, f"{CONFIG}telemetry: {{listen: {listen}}}\n")
    assert built.app.telemetry is None


@pytest.mark.parametrize(("listen", "status"), [("public", 200), ("off", 404)])
def test_readiness_is_beside_the_api_where_the_config_says_so(tmp_path, listen, status):
    built = ProjectApp(tmp_path, f"{CONFIG}telemetry: {{listen: {listen}}}\n")
    assert built.client.simulate_get("/healthz").status_code == 200
    assert built.client.simulate_get("/readyz").status_code == status
