"""The order of a group is made as far as it is needed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.exchange.exchange import Exchange
from engine.upstream.addresses.replicas import Replicas
from engine.upstream.client.dial_order import Address, Share
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_groups import Shares, TargetGroup, TargetOrder
from tests.support.exchanges import new_exchange
from tests.support.upstreams import AddressedClient, Client, target, upstream

TARGETS = [target(Client(), name=name) for name in "abc"]


class Counted:
    """A strategy in the order of the file, whose picks are counted."""

    count = 0

    def watch(self, group: TargetGroup) -> None:
        """Nothing is needed."""

    def picks(self, group: TargetGroup, exchange: Exchange) -> Iterator[Target]:
        for each in group.targets:
            self.count += 1
            yield each


def test_a_target_is_picked_when_it_is_needed() -> None:
    strategy = Counted()
    order = TargetGroup(TARGETS, strategy).order(new_exchange())
    assert strategy.count == 0
    assert order[0] is TARGETS[0]
    assert strategy.count == 1
    assert next(iter(order)) is TARGETS[0]
    assert strategy.count == 1


def test_an_order_is_read_again_without_another_pick() -> None:
    strategy = Counted()
    order = TargetGroup(TARGETS, strategy).order(new_exchange())
    assert [*order] == [*order] == TARGETS
    assert (len(order), order[-1], order[1:]) == (3, TARGETS[2], TARGETS[1:])
    assert strategy.count == 3


def test_an_order_ends_where_its_picks_end() -> None:
    order = TargetOrder(iter(TARGETS[:1]), 2)
    with pytest.raises(IndexError):
        order[1]


@pytest.mark.parametrize("targets", [[], TARGETS[:1]])
def test_without_a_choice_there_is_no_pick(targets: list[Target]) -> None:
    strategy = Counted()
    assert list(TargetGroup(targets, strategy).order(new_exchange())) == targets
    assert strategy.count == 0


def test_another_target_is_drawn_by_weight_among_the_others() -> None:
    shares = Shares([target(Client(), weight=weight) for weight in (5, 0, 1, 3)])
    dice, rounds = random.Random(7).random, 4_000
    counts = Counter(shares.draw_other(0, dice) for _ in range(rounds))
    assert set(counts) == {2, 3}
    assert abs(counts[3] / rounds - 0.75) < 0.03


def test_where_all_others_have_no_weight_there_is_no_other() -> None:
    shares = Shares([target(Client(), weight=weight) for weight in (0, 2, 0)])
    assert shares.draw_other(1, lambda: 0.5) == 1
    assert shares.others(1) == [0, 2]


@given(
    st.lists(st.floats(0, 1000), min_size=2, max_size=6),
    st.floats(0, 1, exclude_max=True),
    st.data(),
)
def test_a_draw_is_always_one_of_the_targets(
    weights: list[float], dice: float, data: st.DataObject
) -> None:
    shares = Shares([target(Client(), weight=weight) for weight in weights])
    index = data.draw(st.integers(0, len(weights) - 1))
    assert shares.draw_other(index, lambda: dice) in range(len(weights))


# --- replicas

A, B, C = (Address(f"10.0.0.{n}", 80) for n in (1, 2, 3))


def followed() -> tuple[Target, AddressedClient]:
    """A target of weight 1 whose addresses are followed."""
    client = AddressedClient()
    west = upstream(client, name="west")
    west.replicas = Replicas(client, 100)  # type: ignore[arg-type]
    west.follow()
    return west.target("", 1), client


def names(targets: Iterable[Target]) -> list[str]:
    return [target.name.removeprefix("west@10.0.0.") for target in targets]


def test_replicas_take_the_place_of_their_target_as_soon_as_they_are_known() -> None:
    west, client = followed()
    group = TargetGroup([west, TARGETS[0]], Counted())
    assert group.targets == (west, TARGETS[0])
    client.move({A: Share(), B: Share()})
    assert names(group.order(new_exchange())) == ["1:80", "2:80", "a"]
    assert group.configured == (west, TARGETS[0])
    client.move({C: Share()})
    assert names(group.order(new_exchange())) == ["3:80", "a"]


def test_a_group_that_follows_no_address_has_its_targets_once() -> None:
    group = TargetGroup(list(TARGETS), Counted())
    assert group.targets is group.configured
    assert group.of(list(TARGETS)) is group
    assert group.of(TARGETS[:1]).targets == (TARGETS[0],)


def test_the_weight_of_a_target_is_shared_by_its_replicas() -> None:
    west, client = followed()
    group = TargetGroup([west, TARGETS[0]], Counted())
    client.move({A: Share(), B: Share()})
    assert [group.shares.draw(lambda point=point: point) for point in (0.2, 0.3, 0.6)] == [0, 1, 2]


def test_replicas_of_a_higher_priority_number_come_after_all_others() -> None:
    west, client = followed()
    strategy = Counted()
    group = TargetGroup([west, TARGETS[0]], strategy)
    client.move({A: Share(priority=2), B: Share(priority=1), C: Share(priority=1)})
    order = group.order(new_exchange())
    assert names(order[:1]) == ["2:80"]
    assert names(order) == ["2:80", "3:80", "a", "1:80"]


def test_an_order_under_way_is_finished_with_the_addresses_that_it_began_with() -> None:
    west, client = followed()
    group = TargetGroup([west], Counted())
    client.move({A: Share(), B: Share()})
    order = group.order(new_exchange())
    assert names(order[:1]) == ["1:80"]
    client.move({C: Share()})
    assert names(order) == ["1:80", "2:80"]
