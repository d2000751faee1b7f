"""The states of models, by the breakers and conditions of their targets."""

from __future__ import annotations

from types import SimpleNamespace

from engine.config.upstreams import BreakerConfig
from engine.upstream.models.model_states import model_states
from engine.upstream.targets.breaker import CircuitBreaker
from engine.upstream.targets.target_state import AFTER_GROUP, FIRST, LAST, TargetState

NOW = 1000.0


def target(*, successes=0, failures=0, turn=FIRST):
    breaker = CircuitBreaker(BreakerConfig(1, 30, 30))
    for _ in range(successes):
        breaker.succeeded()
    for _ in range(failures):
        breaker.failed(NOW - 1)
    state = TargetState(breaker)
    state.conditions = (SimpleNamespace(turn=lambda now: turn),)
    return state


def states(*upstreams):
    named = {str(n): SimpleNamespace(states=states) for n, states in enumerate(upstreams)}
    return model_states(named, lambda: NOW)


def test_an_entry_is_healthy_once_a_target_has_answered():
    assert states({("gpt", "m"): target(successes=1), ("other", ""): target()}) == {
        "gpt": "healthy"
    }


def test_an_entry_is_degraded_if_one_of_its_targets_fails():
    works, fails = target(successes=1), target(failures=1)
    assert states({("gpt", "m"): works}, {("gpt", ""): fails}) == {"gpt": "degraded"}
    assert states({("gpt", "m"): fails}, {("gpt", ""): works}) == {"gpt": "degraded"}


def test_a_target_that_is_asked_last_is_degraded_before_its_first_request():
    assert states({("gpt", ""): target(turn=LAST)}) == {"gpt": "degraded"}
    assert states({("gpt", ""): target(turn=AFTER_GROUP, successes=1)}) == {"gpt": "healthy"}


def test_targets_of_routes_are_of_no_model():
    assert states({("", ""): target(failures=1)}) == {}
    assert states({("gpt", "m", "10.0.0.1:80"): target(successes=1)}) == {"gpt": "healthy"}
