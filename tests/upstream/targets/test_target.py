"""Upstreams and targets: names, breakers, headers, timeouts."""

from __future__ import annotations

import pytest

from engine.config.transforms import TransformConfig
from engine.config.upstreams import HeaderChanges
from engine.credentials.interface.fixed import HeaderCredential
from engine.upstream.addresses.replicas import Replicas
from engine.upstream.client.dial_order import Address, Share
from engine.upstream.targets.target import Upstream
from tests.support.upstreams import AddressedClient, Client, upstream


def test_a_credential_does_not_show_its_secret() -> None:
    west = upstream(Client(), credentials=[HeaderCredential("header", "k", "s3cret")])
    assert "s3cret" not in repr(west)


def test_targets_of_one_entry_share_their_state_and_others_do_not() -> None:
    west = upstream(Client())
    east, second, other = (
        west.target("m", 1, "e"),
        west.target("n", 1, "e"),
        west.target("m", 1, "f"),
    )
    assert east.state is second.state
    assert east.state is not other.state
    assert upstream(Client()).target("m", 1, "e").state is not east.state


def test_targets_without_a_transform_share_the_edits_of_their_upstream() -> None:
    west = upstream(Client(), headers=HeaderChanges(set={"x-key": "1"}))
    own = [TransformConfig({"request": {"header": {"set": {"x-team": "2"}}}}, ())]
    first, second, third = (west.target("m", 1, transform=each) for each in ((), (), own))
    assert first.edits is second.edits
    assert (len(first.edits.transforms), len(third.edits.transforms)) == (1, 2)


def test_a_target_is_named_by_its_upstream_and_its_model() -> None:
    west = upstream(Client(), name="main")
    assert (west.target("m/x", 1).name, west.target("", 1).name) == ("main/m/x", "main")


def test_its_request_headers_are_those_of_the_dialect_and_of_the_config() -> None:
    west = upstream(Client(), forward_headers=("X-Own",)).headers(("x-dialect",))
    environ = {"HTTP_X_OWN": "1", "HTTP_X_DIALECT": "2", "HTTP_X_OTHER": "3", "HTTP_COOKIE": "4"}
    assert west.pick(environ) == [("x-dialect", "2"), ("x-own", "1")]


@pytest.mark.parametrize("name", ["Authorization", "cookie", "X-Api-Key", "host", "x-goog-api-key"])
def test_no_config_forwards_the_token_of_a_caller(name: str) -> None:
    west = upstream(Client(), forward_headers=(name,)).headers(())
    assert west.pick({"HTTP_" + name.upper().replace("-", "_"): "secret"}) == []


# --- replicas

A, B = Address("10.0.0.1", 8000), Address("10.0.0.2", 8000)


def moving() -> tuple[Upstream, AddressedClient]:
    """An upstream whose addresses are followed."""
    client = AddressedClient()
    west = upstream(client, name="west")
    west.replicas = Replicas(client, 100)  # type: ignore[arg-type]
    west.follow()
    return west, client


def test_a_target_without_addresses_to_follow_is_its_own_replica() -> None:
    single = upstream(Client()).target("m", 1)
    assert single.replicas() == ((single,),)
    unknown = moving()[0].target("m", 1)
    assert unknown.replicas() == ((unknown,),)


def test_a_replica_has_its_address_in_its_name_and_a_part_of_the_weight() -> None:
    west, client = moving()
    target = west.target("m", 2, entry="big")
    client.move({A: Share(3), B: Share(1)})
    ((first, second),) = target.replicas()
    assert (first.name, first.weight) == ("west/m@10.0.0.1:8000", 1.5)
    assert (second.name, second.weight) == ("west/m@10.0.0.2:8000", 0.5)
    assert (first.client, first.entry, first.upstream) == (client.clients[A], "big", west)
    assert first.replicas() == ((first,),)


def test_each_address_has_a_state_of_its_own_which_targets_of_one_entry_share() -> None:
    west, client = moving()
    client.move({A: Share(), B: Share()})
    ((first, second),) = west.target("m", 1, entry="e").replicas()
    ((again, _),) = west.target("n", 1, entry="e").replicas()
    assert first.state is again.state
    assert first.state is not second.state
    assert ("e", "", "10.0.0.1:8000") in west.states


def test_an_address_that_comes_back_soon_has_the_state_that_it_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr("engine.upstream.targets.target.time.monotonic", lambda: now)
    west, client = moving()
    client.move({A: Share()})
    state = west.state("e", "", str(A))
    client.move({B: Share()})
    assert ("e", "", str(A)) not in west.states
    now += 299
    client.move({A: Share()})
    assert west.state("e", "", str(A)) is state
    client.move({B: Share()})
    now += 301
    client.move({A: Share(), B: Share()})
    assert west.state("e", "", str(A)) is not state
