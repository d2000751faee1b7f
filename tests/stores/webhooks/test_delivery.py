"""Delivery: until the receiver has a message, at growing intervals, for about three days."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from engine.stores.webhooks.delivery import DELAYS, WEBHOOKS_WAITING, Deliveries, Receiver
from engine.stores.webhooks.outbox import Message, Outbox
from tests.support.each import each


@dataclass
class Result:
    status: int
    error: str = ""
    retry_after: float | None = None


class Hook:
    """Answers with these results, the last one again and again; `ids` and `times` are those of the
    attempts."""

    def __init__(self, *results):
        self.results, self.ids, self.times = list(results), [], []

    def __call__(self, body, headers):
        fields = dict(headers)
        self.ids.append(fields["webhook-id"])
        self.times.append(int(fields["webhook-timestamp"]))
        return self.results.pop(0) if len(self.results) > 1 else self.results[0]


class Site:
    def __init__(self, folder, **hooks):
        self.now = 1000.0
        self.folder = folder
        self.outbox = Outbox(folder, self.clock)
        receivers = {name: Receiver(hook, [b"k" * 24]) for name, hook in hooks.items()}
        self.deliveries = Deliveries(self.outbox, receivers, clock=self.clock, dice=lambda: 0.5)

    def clock(self):
        return self.now

    def put(self, name, webhook="a"):
        message = Message(f"msg_{name}", webhook, "{}", self.now)
        self.outbox.confirm(self.outbox.draft(message))

    def run(self, seconds, webhook="a"):
        """Rounds once a second."""
        end = self.now + seconds
        while self.now < end:
            self.deliveries.round(webhook)
            self.now += 1


@pytest.fixture
def site(tmp_path):
    sites = []

    def make(**hooks):
        sites.append(Site(tmp_path / str(len(sites)), **hooks))
        return sites[-1]

    yield make
    for one in sites:
        one.outbox.close()


def test_a_message_is_delivered_once(site):
    hook = Hook(Result(204))
    here = site(a=hook)
    here.put("1")
    here.run(3)
    assert hook.ids == ["msg_1"]
    assert here.deliveries.counts == {("a", "delivered"): 1}
    assert here.outbox.count() == 0


@each("failure", [Result(500), Result(302), Result(0, "no connection"), Result(404)])
def test_a_failed_message_is_sent_again_with_its_id_and_a_new_time(tmp_path, failure):
    hook = Hook(failure, Result(200))
    here = Site(tmp_path / str(failure.status), a=hook)
    here.put("1")
    here.run(7)
    assert (hook.ids, hook.times) == (["msg_1"] * 2, [1000, 1005])
    here.outbox.close()


def test_a_receiver_may_ask_for_a_longer_wait(site):
    hook = Hook(Result(429, retry_after=60.0), Result(200))
    here = site(a=hook)
    here.put("1")
    here.run(70)
    assert hook.times == [1000, 1060]


def test_a_webhook_that_fails_has_a_pause(site):
    hook = Hook(Result(500), Result(200))
    here = site(a=hook)
    here.put("1")
    here.put("2")
    here.run(8)
    assert hook.ids == ["msg_1", "msg_1", "msg_2"]


def test_another_webhook_is_not_affected(site):
    slow, good = Hook(Result(500)), Hook(Result(200))
    here = site(a=slow, b=good)
    here.put("1", "a")
    here.put("1", "b")
    here.run(1, "a")
    here.run(1, "b")
    assert good.ids == ["msg_1"]


def test_after_the_last_attempt_it_is_lost_and_logged(site, caplog):
    hook = Hook(Result(500))
    here = site(a=hook)
    here.put("1")
    for delay in (0.0, *DELAYS):
        here.now += delay + 1
        here.deliveries.round("a")
    assert len(hook.ids) == len(DELAYS) + 1
    assert here.outbox.count() == 0
    assert here.deliveries.counts == {("a", "failed"): len(DELAYS), ("a", "lost"): 1}
    assert "message msg_1 is lost after 10 attempts: it answered with status 500" in caplog.text


def test_a_receiver_that_is_gone_gets_it_once(site):
    hook = Hook(Result(410))
    here = site(a=hook)
    here.put("1")
    here.run(10)
    assert (len(hook.ids), here.outbox.count()) == (1, 0)


def test_a_process_without_the_lock_sends_nothing(site):
    hook = Hook(Result(200))
    here = site(a=hook)
    other = Outbox(here.folder)
    assert other.leads()
    here.put("1")
    here.run(2)
    assert hook.ids == []
    other.close()


def test_what_waits_is_a_metric(site):
    here = site(a=Hook(Result(500)))
    here.put("1")
    assert (WEBHOOKS_WAITING, (), 1) in [*here.deliveries.collect()]
