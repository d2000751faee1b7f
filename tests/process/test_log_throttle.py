"""A repeated message is logged the first time, and then once a minute with its count."""

from engine.process.log_throttle import LogThrottle
from tests.support.clock import Clock


def test_a_repeated_message_is_logged_once_a_minute_with_its_count(caplog):
    clock = Clock()
    throttle = LogThrottle(clock=clock)
    for second in range(121):
        clock.now = float(second)
        throttle.log("no room in %s", "there")
    assert [record.getMessage() for record in caplog.records] == [
        "no room in there",
        "no room in there (60 times since the last message)",
        "no room in there (60 times since the last message)",
    ]
