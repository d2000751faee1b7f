"""The figures that the soak computes from its samples."""

from __future__ import annotations

from benchmarks.soak.callers import is_complete
from benchmarks.soak.growth import Sample, after, growth, minutes


def samples(sizes: list[int], every: float = 10.0) -> list[Sample]:
    return [Sample(n * every, n * 1000, {7: size}) for n, size in enumerate(sizes)]


def test_growth_is_that_of_the_last_half():
    warming = [50, 80, 90, 95, 100, 100, 100, 100, 100]
    assert growth(samples(warming)) == {7: 0}
    leaking = [50, 80, 90, 95, 100, 110, 120, 130, 140]
    assert growth(samples(leaking)) == {7: 40}


def test_one_high_sample_is_no_growth():
    steady = [100] * 31
    steady[-2] = 900
    assert growth(samples(steady)) == {7: 0}


def test_growth_needs_samples_and_a_worker_that_lived_through_them():
    assert growth(samples([1, 2, 3])) == {}
    late = [*samples([5] * 8), Sample(80.0, 1, {8: 5})]
    assert growth(late) == {}


def test_a_minute_is_the_median_of_its_samples():
    medians = minutes(samples([1, 2, 3, 4, 90, 6, 7, 7]))
    assert [(s.seconds, s.requests, s.workers) for s in medians] == [
        (50.0, 5000, {7: 4}),
        (70.0, 7000, {7: 7}),
    ]


def test_memory_after_so_many_requests_is_found():
    memory = after(samples([10, 20, 30]), 1500)
    assert memory is not None
    assert memory.workers == {7: 30}
    assert after(samples([10]), 1500) is None


def test_an_answer_isis_complete_at_its_length_or_last_chunk():
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
    assert not is_complete(head + b"hell")
    assert is_complete(head + b"hello")
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    assert not is_complete(chunked)
    assert is_complete(chunked + b"0\r\n\r\n")
    assert not is_complete(b"HTTP/1.1 200 OK\r\n")
