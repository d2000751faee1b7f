"""Which routes open what callers keep of the gateway's."""

import json

import pytest
from falcon.testing import TestClient
from msgspec.structs import replace

from engine.app.build import build
from engine.app.services.worker_services import services_of
from engine.objects.sealed_ids import Sealer
from engine.objects.summaries import Summaries
from engine.offline.rehearsal.observation import UpstreamAnswers
from engine.offline.rehearsal.stand_ins import recorder
from engine.values.caller import Caller
from tests.support.project_app import TOKEN
from tests.support.translating import CONFIG, translating

KEY = "0123456789abcdef0123456789abcdef"
SUMMARY = Summaries(Sealer([KEY], []), "token").seal("All is done.", Caller("alice"))
ITEM = {"type": "compaction", "encrypted_content": SUMMARY}


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Sends a request to a gateway with the key or without; returns what reached the upstream."""
    clients, requests = {}, []
    for more in ("", f"objects: {{key: {KEY}}}\n"):
        plan = translating(tmp_path_factory.mktemp("stages"), CONFIG + more).plan
        services = replace(services_of(plan), dice=lambda: 0.0)
        app = build(plan, services, client=recorder(requests, UpstreamAnswers()))
        clients[bool(more)] = TestClient(app)

    def ask(path, body, *, key=True):
        requests.clear()
        answer = clients[key].simulate_post(path, json=body, headers=TOKEN)
        return answer, [bytes(request.body).decode() for request in requests]

    return ask


@pytest.mark.parametrize("model", ["responses-model", "claude-model", "chat-model"])
def test_a_summary_is_opened_for_the_models_of_every_vendor(ask, model):
    answer, [sent] = ask("/v1/responses", {"model": model, "input": [ITEM]})
    assert answer.status_code == 200
    assert "All is done." in sent
    assert SUMMARY not in sent


def test_without_a_key_it_is_relayed_to_the_callers_vendor_and_refused_elsewhere(ask):
    answer, [sent] = ask("/v1/responses", {"model": "responses-model", "input": [ITEM]}, key=False)
    assert json.loads(sent)["input"] == [ITEM]
    answer, sent = ask("/v1/responses", {"model": "claude-model", "input": [ITEM]}, key=False)
    assert (answer.status_code, answer.json["error"]["param"], sent) == (400, "input[0]", [])


def test_other_languages_have_no_summaries(ask):
    messages = [{"role": "user", "content": SUMMARY}]
    _, [sent] = ask("/v1/chat/completions", {"model": "chat-model", "messages": messages})
    assert SUMMARY in sent
