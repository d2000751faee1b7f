"""The page of operations, its files and its data."""

import re
from functools import partial

from falcon.testing import TestClient

from tests.support.project_app import ProjectApp
from tests.support.rehearsing import CONFIG


def client(folder, more=""):
    app = ProjectApp(folder, f"{CONFIG}telemetry: {{{more}}}\n").app.telemetry
    return partial(TestClient(app).simulate_get, extras={"REMOTE_ADDR": "127.0.0.1"})


def test_every_file_that_it_loads_is_served(tmp_path):
    listener = client(tmp_path)
    html = listener("/operations").text
    found = re.findall(r'(?:src|href)="(operations/[^"]+)"', html)
    assert len(found) > 4
    for name in found:
        answer = listener(f"/{name}")
        assert answer.status_code == 200, name
        for other in re.findall(r'from "(\.\.?/[^"]+)"', answer.text):
            folder = name.rpartition("/")[0]
            path = f"{folder}/{other}".replace("/./", "/")
            path = re.sub(r"/[^/]+/\.\./", "/", path)
            assert listener(f"/{path}").status_code == 200, other


def test_it_has_the_policy_of_the_console(tmp_path):
    listener = client(tmp_path)
    for path in ("/operations", "/operations.json"):
        headers = listener(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
    assert listener("/operations.json").headers["cache-control"] == "no-store"


def test_it_can_be_switched_off(tmp_path):
    listener = client(tmp_path, "operations: false")
    for path in ("/operations", "/operations.json", "/operations/page/style.css"):
        assert listener(path).status_code == 404


def test_it_is_for_those_who_may_read_the_metrics(tmp_path):
    listener = client(tmp_path, "allow_ips: [10.0.0.0/8]")
    refusal = listener("/operations.json")
    assert refusal.status_code == 403
    assert "telemetry.allow_ips" in refusal.json["error"]["message"]
