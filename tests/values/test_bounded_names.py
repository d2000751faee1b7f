"""How many names callers can make up."""

from engine.values.bounded_names import MIN_AGE, NameTables
from engine.values.quota_sharers import NOBODY, OTHERS


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def table(size=2, age=100.0):
    clock = Clock()
    return NameTables(size, clock).of("place", age), clock


def test_names_beyond_the_bound_share_one_count():
    names, _ = table()
    assert [names.admit(each) for each in ("a", "b", "c", "a", "d")] == [
        "a",
        "b",
        OTHERS,
        "a",
        OTHERS,
    ]
    assert (len(names), names.refused) == (2, 2)


def test_a_name_keeps_its_room_for_the_window_after_its_last_request():
    names, clock = table()
    names.admit("a")
    names.admit("b")
    clock.now = 90.0
    names.admit("a")
    clock.now = 101.0
    assert [names.admit(each) for each in ("c", "d", "a")] == ["c", OTHERS, "a"]


def test_requests_without_a_name_need_no_room():
    names, _ = table(size=0)
    assert names.admit(NOBODY) == NOBODY


def test_a_million_names_take_the_room_of_the_bound():
    names, _ = table(size=100)
    assert sum(names.admit(str(at)) == OTHERS for at in range(100_000)) == 99_900
    assert len(names) == 100


def test_the_longest_window_of_a_place_counts():
    tables = NameTables()
    first = tables.of("place", 3600.0)
    assert tables.of("place", 60.0) is first
    assert first.age == 3600.0
    assert tables.of("other", 0.0).age == MIN_AGE
