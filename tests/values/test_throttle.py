"""A repeated message is logged the first time, and then once a minute with its count."""

from engine.values.throttle import LogThrottle


def test_what_goes_on_is_said_once_a_minute_with_how_often_it_happened(caplog):
    now = [0.0]
    complaint = LogThrottle(clock=lambda: now[0])
    for second in range(121):
        now[0] = float(second)
        complaint.log("no room in %s", "there")
    assert [record.getMessage() for record in caplog.records] == [
        "no room in there",
        "no room in there (60 times since the last message)",
        "no room in there (60 times since the last message)",
    ]
