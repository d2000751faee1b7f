"""A trial start of a plan finds the errors that a worker would find, and leaves nothing behind."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec.structs import replace

from engine.app.routes.internal_call import InternalResponse
from engine.app.services.worker_services import prepare
from engine.offline.rehearsal import boot as module
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import CannotServe
from engine.policies import max_body
from engine.policies.interface import PolicyKind
from engine.process.runtime_dir import runtime_directory
from engine.stores.database.open_database import open_database
from engine.values.discovery import Plugins
from tests.support.paths import ROOT
from tests.support.recording import recorder

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "paths": {
        "/chat": {
            "post": {
                "operationId": "chat",
                "security": [],
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["model"],
                                "properties": {"model": {"type": "string"}},
                            }
                        }
                    }
                },
                "responses": {"200": {"description": "ok"}},
            }
        },
        "/items": {"get": {"operationId": "items", "responses": {"200": {"description": "ok"}}}},
        "/item": {"get": {"operationId": "item", "responses": {"200": {"description": "ok"}}}},
    },
}
CONFIG = """
version: 1
specs: {shop: {document: shop.json, token: [bearer]}}
stores: {records: "sqlite:///usage.db", journal: journal}
upstreams: {main: {url: "URL", proxy: ""}}
models: {small: {to: [{upstream: main}]}}
policies: [{rate_limit: {requests: 1, per: 1h, by: all}}]
routes:
  - {operation: shop.chat, model: $request.body#/model}
  - {operation: shop.items, to: [{upstream: main}]}
telemetry: {access_log: {path: access.log}}
"""


def planned(folder, text=CONFIG, url="http://127.0.0.1:9"):
    (folder / "shop.json").write_text(json.dumps(DOCUMENT))
    (folder / "gateway.yaml").write_text(text.replace("URL", url))
    result = make_plan(folder / "gateway.yaml", {})
    assert result.plan is not None, [str(problem) for problem in result.problems]
    return result.plan


def boot(planned, **more):
    with TemporaryDirectory() as aside:
        return module.boot(planned, Path(aside), **more)


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_nothing_is_sent_written_or_counted(tmp_path):
    with recorder() as upstream:
        plan = planned(tmp_path, url=upstream.url)
        before = files(tmp_path)
        for _ in range(3):
            assert boot(plan).requests >= 2
        assert (upstream.requests, upstream.connections) == ([], 0)
    assert files(tmp_path) == before
    assert list(runtime_directory(tmp_path / "gateway.yaml").glob("*.mdb")) == []


def test_requests_on_trial_leave_no_row_in_the_ledger(tmp_path):
    plan = planned(tmp_path)
    assert prepare(plan.config) == ""
    boot(plan)
    database = open_database(plan.config.stores.records)
    rows = database.read(lambda c: c.exec_driver_sql("SELECT count(*) FROM usage").scalar())
    database.close()
    assert rows == 0


@pytest.fixture
def played(monkeypatch):
    """The status and body of each request that is played, by its method and target."""
    responses, send = {}, module.send

    def watched(app, request, caller):
        response = send(app, request, caller)
        data = response.read()
        responses[request.method, request.target] = response.status, data
        return InternalResponse(response.status, response.headers, [data])

    monkeypatch.setattr(module, "send", watched)
    return responses


def test_every_kind_of_route_is_played_to_its_end(tmp_path, played):
    boot(planned(tmp_path))
    assert played["POST", "/chat"][0] == 200
    assert played["GET", "/items"][0] == 200


def test_the_pages_of_a_trial_show_a_route_of_each_kind(tmp_path, played):
    item = "  - {operation: shop.item, to: [{upstream: main}]}\n"
    boot(planned(tmp_path, CONFIG.replace("telemetry:", f"{item}telemetry:")))
    document = json.loads(played["GET", "/openapi.json"][1])
    assert [*document["paths"]] == ["/chat", "/items"]


def test_a_journal_that_somebody_uses_is_left_as_it_is(tmp_path):
    plan = planned(tmp_path, CONFIG.replace("journal: journal", "journal: deep/journal"))
    (tmp_path / "deep").mkdir()
    before = files(tmp_path)
    boot(plan)
    assert files(tmp_path) == before
    (tmp_path / "deep/journal").mkdir()
    boot(plan)
    assert files(tmp_path) == [*before[:1], "deep/journal", *before[1:]]


def test_the_database_is_migrated_on_request(tmp_path):
    plan = planned(tmp_path)
    boot(plan, migrate=True)
    database = open_database(plan.config.stores.records)
    tables = database.read(lambda c: c.exec_driver_sql("SELECT name FROM sqlite_master").fetchall())
    database.close()
    assert len(tables) > 2


def test_an_unwritable_journal_is_reported(tmp_path):
    text = CONFIG.replace("journal: journal", "journal: shop.json/in")
    with pytest.raises(CannotServe, match="journal cannot be kept"):
        boot(planned(tmp_path, text))


def test_a_database_in_a_folder_that_the_migration_makes_is_no_warning(tmp_path):
    text = CONFIG.replace("sqlite:///usage.db", "sqlite:///new/folder/usage.db")
    assert boot(planned(tmp_path, text)).warning == ""
    assert not (tmp_path / "new").exists()


def test_a_database_in_a_folder_that_cannot_be_made_is_a_warning(tmp_path):
    text = CONFIG.replace("sqlite:///usage.db", "sqlite:///shop.json/folder/usage.db")
    assert "unavailable: records" in boot(planned(tmp_path, text)).warning


def test_a_database_that_is_away_is_a_warning(tmp_path):
    text = CONFIG.replace("sqlite:///usage.db", "postgresql+psycopg://127.0.0.1:9/none")
    assert "unavailable" in boot(planned(tmp_path, text)).warning


def test_counters_that_are_away_are_a_warning(tmp_path):
    text = CONFIG.replace("journal: journal", 'journal: journal, counters: "redis://127.0.0.1:9"')
    assert "counters" in boot(planned(tmp_path, text)).warning


def test_a_failure_in_a_stage_is_reported(tmp_path, monkeypatch):
    def broken(options, services):
        def fails(exchange, following):
            raise KeyError("not thought of")

        return fails

    kind = replace(max_body.POLICY, build=broken)
    monkeypatch.setattr("engine.policies.max_body.POLICY", kind)
    kinds = Plugins("engine.policies", "POLICY", PolicyKind)
    monkeypatch.setattr("engine.policies.KINDS", kinds)
    plan = planned(tmp_path, CONFIG.replace("policies: [", "policies: [{max_body: 1MB}, "))
    with pytest.raises(CannotServe, match=r"fails: KeyError: 'not thought of'"):
        boot(plan)


def test_what_is_done_after_an_answer_is_looked_at_as_well(tmp_path, monkeypatch):
    def fails(exchange, currency):
        raise ZeroDivisionError("a row")

    monkeypatch.setattr("engine.app.services.records.entry_of", fails)
    with pytest.raises(CannotServe, match="ZeroDivisionError: a row"):
        boot(planned(tmp_path))


def test_the_shipped_config_starts():
    config = ROOT / "gateway.yaml"
    plan = make_plan(config, {}).plan
    assert boot(plan).requests > 8


@pytest.mark.parametrize("path", ["/ä b", "/a%20b", "/ü/{id}", "/x:y(z)"])
def test_a_path_may_have_any_character(tmp_path, path, monkeypatch):
    get = {"operationId": "items", "responses": {"200": {"description": "ok"}}}
    if "{" in path:
        get["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": {}}]
    monkeypatch.setitem(DOCUMENT, "paths", {**DOCUMENT["paths"], path: {"get": get}})
    monkeypatch.delitem(DOCUMENT["paths"], "/items")
    assert boot(planned(tmp_path)).requests
