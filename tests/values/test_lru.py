"""Which entries of a cache remain."""

from __future__ import annotations

from engine.values.lru import LRUCache


def test_the_entry_that_was_used_longest_ago_makes_room() -> None:
    cache: LRUCache[str, int] = LRUCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]
    cache.put("a", 4)
    cache.put("d", 5)
    assert ["a" in cache, "c" in cache, cache.get("a")] == [True, False, 4]


def test_a_removed_entry_makes_room() -> None:
    cache: LRUCache[str, int] = LRUCache(2)
    for key in "ab":
        cache.put(key, 1)
    cache.discard("b")
    cache.discard("unknown")
    cache.put("c", 1)
    assert [key for key in "abc" if key in cache] == ["a", "c"]


def test_values_are_made_once_and_bounded_by_the_sum_of_their_sizes() -> None:
    calls: list[str] = []

    def get(key: str, size: int) -> bytes:
        return cache.get_or_make(key, lambda: calls.append(key) or bytes(size))

    cache: LRUCache[str, bytes] = LRUCache(10, len)
    for key, size in (("a", 4), ("b", 4), ("a", 4), ("c", 4), ("a", 4), ("b", 4), ("large", 11)):
        assert len(get(key, size)) == size
    assert calls == ["a", "b", "c", "b", "large"]
    assert get("large", 11)
    assert calls[-2:] == ["large", "large"], "it is larger than the cache"
