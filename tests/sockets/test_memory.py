"""What a socket remembers, and when it forgets."""

import orjson

from engine.objects.response_items import whole_request
from engine.sockets.memory import PER_LANE, MemoryBudget, ResponseMemory


def memory(size=1000, budget=None):
    return ResponseMemory(size, budget or MemoryBudget())


def test_a_response_is_remembered_with_its_lane():
    kept = memory()
    kept.add("resp_1", b'{"a":1}', "lane")
    assert kept.get("resp_1") == (b'{"a":1}', "lane")
    assert kept.get("resp_2") is None


def test_a_lane_forgets_its_oldest_and_no_others():
    kept = memory()
    kept.add("other", b"x", "b")
    for number in range(PER_LANE + 2):
        kept.add(f"resp_{number}", b"x", "a")
    assert [name for name in ("other", "resp_0", "resp_1", "resp_2") if kept.get(name)] == [
        "other",
        "resp_2",
    ]
    assert len(kept) == PER_LANE + 1


def test_a_socket_remembers_so_many_bytes():
    kept = memory(10)
    kept.add("resp_1", b"x" * 6, "a")
    kept.add("resp_2", b"x" * 5, "b")
    assert kept.get("resp_1") is None
    assert kept.get("resp_2") is not None


def test_a_response_that_is_too_large_is_not_remembered():
    kept = memory(10)
    kept.add("resp_1", b"x", "")
    kept.add("resp_1", b"x" * 11, "")
    assert len(kept) == 0


def test_a_worker_forgets_the_oldest_of_all_sockets():
    budget = MemoryBudget(10)
    first, second = memory(budget=budget), memory(budget=budget)
    first.add("resp_1", b"x" * 6, "")
    second.add("resp_2", b"x" * 6, "")
    assert (len(first), len(second)) == (0, 1)


def test_a_socket_that_closes_leaves_room_for_others():
    budget = MemoryBudget(10)
    first, second = memory(budget=budget), memory(budget=budget)
    first.add("resp_1", b"x" * 6, "")
    first.clear()
    second.add("resp_2", b"x" * 4, "")
    second.add("resp_3", b"x" * 6, "")
    assert (len(first), len(second)) == (0, 2)


def test_a_whole_request_has_all_items_in_order():
    request = {"model": "m", "input": [3], "stream": True}
    assert orjson.loads(whole_request(request, b"1,2", b"3")) == {**request, "input": [1, 2, 3]}
    assert orjson.loads(whole_request(request, b"1", b"")) == {**request, "input": [1]}
