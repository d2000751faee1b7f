"""Messages outlive the processes that write and deliver them."""

from __future__ import annotations

import os

import pytest

from engine.stores.webhooks import outbox as module
from engine.stores.webhooks.outbox import Message, Outbox, OutboxFull


def message(name="a", webhook="hook", created=1.0):
    return Message(f"msg_{name}", webhook, "{}", created)


@pytest.fixture
def outbox(tmp_path):
    box = Outbox(tmp_path / "webhooks")
    yield box
    box.close()


def put(outbox, *messages):
    for each in messages:
        outbox.confirm(outbox.draft(each))


def test_a_draft_is_not_sent(outbox):
    draft = outbox.draft(message())
    assert outbox.messages("hook") == []
    outbox.confirm(draft)
    assert outbox.messages("hook") == [message()]


def test_a_discarded_draft_leaves_nothing(outbox, tmp_path):
    outbox.discard(outbox.draft(message()))
    assert list((tmp_path / "webhooks").iterdir()) == []


def test_messages_are_those_of_a_webhook_the_oldest_first(outbox):
    put(outbox, message("b", created=2.0), message("a", created=1.0), message("c", "other"))
    assert [each.id for each in outbox.messages("hook")] == ["msg_a", "msg_b"]
    assert outbox.count() == 3


def test_an_attempt_and_its_end_are_kept(outbox, tmp_path):
    put(outbox, message())
    outbox.update(outbox.messages("hook")[0], 9.0)
    (again,) = Outbox(tmp_path / "webhooks").messages("hook")
    assert (again.attempts, again.due) == (1, 9.0)
    outbox.remove(again)
    assert outbox.messages("hook") == []


def test_the_draft_of_a_killed_process_is_sent_later(outbox):
    draft = outbox.draft(message())
    outbox.adopt_drafts()
    assert outbox.messages("hook") == []
    os.utime(draft, (1, 1))
    outbox.adopt_drafts()
    assert outbox.messages("hook") == [message()]


def test_the_same_event_of_two_workers_is_one_message(outbox):
    first, second = outbox.draft(message()), outbox.draft(message())
    outbox.confirm(first)
    outbox.discard(second)
    assert outbox.count() == 1


def test_what_waits_is_bounded(outbox, monkeypatch):
    monkeypatch.setattr(module, "MAX_MESSAGES", 2)
    put(outbox, message("a"), message("b"))
    with pytest.raises(OutboxFull):
        outbox.draft(message("c"))


def test_one_process_delivers(outbox, tmp_path):
    other = Outbox(tmp_path / "webhooks")
    assert outbox.leads()
    assert not other.leads()
    outbox.close()
    assert other.leads()
    other.close()


def test_a_broken_file_is_removed(outbox, tmp_path):
    put(outbox, message())
    (file,) = (tmp_path / "webhooks").iterdir()
    file.write_text('{"id": "msg_a"')
    assert outbox.messages("hook") == []
    assert not file.exists()


def test_messages_of_a_removed_webhook_are_removed(outbox):
    put(outbox, message("a"), message("b", "old"))
    assert outbox.remove_others({"hook"}) == 1
    assert outbox.count() == 1
