"""The status of models, as the home page asks for it."""

from msgspec import structs

from engine.console.model_status import model_status
from engine.exchange.services import Services
from engine.telemetry.health import Health
from tests.support.exchanges import new_exchange


def answer(services):
    return model_status(services)(new_exchange("GET", "/console/status.json"))


def test_it_has_the_states_of_the_worker():
    health = Health(model_states=lambda: {"gpt-4o": "healthy", "b": "degraded"})
    response = answer(Services(health=health))
    assert response.status == 200
    assert response.body == b'{"models":{"gpt-4o":"healthy","b":"degraded"}}'
    assert ("cache-control", "no-store") in response.headers


def test_it_is_empty_without_states():
    assert answer(Services()).body == b'{"models":{}}'
    assert answer(Services(health=Health())).body == b'{"models":{}}'


def test_states_are_read_once_in_two_seconds():
    reads, now = [], [0.0]
    health = Health(model_states=lambda: reads.append(0) or {})
    handler = model_status(structs.replace(Services(), health=health, monotonic=lambda: now[0]))
    for now[0] in (0.0, 1.9, 2.1):
        handler(new_exchange("GET", "/console/status.json"))
    assert len(reads) == 2
