"""Summaries that callers keep: what opens them, what does not, and what becomes of a conversation
that has one."""

import pytest

from engine.objects.sealed_ids import Sealer
from engine.objects.summaries import INTRODUCTION, PREFIX, Summaries, sealed_text
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.each import each

ANN, BOB, TEAMMATE = Caller("ann", team="shop"), Caller("bob"), Caller("eve", team="shop")
KEY = "a key for tests " * 4


def summaries(*keys, owner="token"):
    return Summaries(Sealer(keys or [KEY], []), owner)


def item(text="All is done.", caller=ANN, **options):
    content = summaries(**options).seal(text, caller)
    return {"type": "compaction", "encrypted_content": content}


def user(text):
    return {"role": "user", "content": text}


def opened(items, caller=ANN, *keys, **options):
    return summaries(*keys, **options).open_items(items, caller)


@each("text", ["All is done.", "\u00fc \U0001f600 \ud800", "x" * 100_000])
def test_a_summary_becomes_a_message_of_its_text(text):
    [before, message] = opened([user("hi"), item(text)])
    assert (before, message["role"]) == (user("hi"), "user")
    expected = INTRODUCTION + text.encode("utf-8", "replace").decode()
    assert message["content"] == [{"type": "input_text", "text": expected}]


def test_the_text_says_nothing_of_the_summary():
    sealed = item("secret " * 100)["encrypted_content"]
    assert sealed.startswith(PREFIX)
    assert "secret" not in sealed
    assert len(sealed) < 150


def test_a_key_behind_the_first_opens_and_one_that_left_does_not():
    sealed = item()
    assert opened([sealed], ANN, "another key " * 6, KEY)
    with pytest.raises(GatewayError):
        opened([sealed], ANN, "another key " * 6)


@each(
    ("caller", "owner", "opens"),
    [
        (BOB, "token", False),
        (TEAMMATE, "token", False),
        (None, "token", False),
        (TEAMMATE, "team", True),
        (BOB, "team", False),
        (BOB, "all", True),
    ],
)
def test_a_summary_is_its_owners(caller, owner, opens):
    sealed = item(owner=owner)
    if opens:
        assert opened([sealed], caller, owner=owner)
        return
    with pytest.raises(GatewayError) as refused:
        opened([sealed], caller, owner=owner)
    assert (refused.value.status, refused.value.param) == (400, "input[0].encrypted_content")


def test_no_changed_text_opens():
    sealed = item()["encrypted_content"]
    for at in range(len(PREFIX), len(sealed)):
        changed = f"{sealed[:at]}{'A' if sealed[at] != 'A' else 'B'}{sealed[at + 1 :]}"
        with pytest.raises(GatewayError):
            opened([{"type": "compaction", "encrypted_content": changed}])


@each("text", [PREFIX, f"{PREFIX}A", f"{PREFIX}AAAA", f"{PREFIX}\u00e9", f"{PREFIX}{'A' * 5000}"])
def test_a_text_that_is_none_is_refused(text):
    with pytest.raises(GatewayError):
        opened([{"type": "compaction", "encrypted_content": text}])


@each(
    "other",
    [
        {"type": "compaction", "encrypted_content": "gAAAA"},
        {"type": "compaction", "encrypted_content": None},
        {"type": "reasoning", "encrypted_content": f"{PREFIX}AAAA"},
        "text",
        None,
    ],
)
def test_other_items_stay_as_they_are(other):
    assert sealed_text(other) is None
    assert opened([other]) == [other]


def test_of_a_conversation_that_was_compacted_only_what_was_said_to_the_model_stays():
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    items = [user("one"), call, {"role": "assistant", "content": "two"}, {"type": "x"}]
    trigger = {"type": "compaction_trigger"}
    first, message, last = opened([*items, trigger, item(), user("three")])
    assert (first, last) == (user("one"), user("three"))
    assert message["content"][0]["text"].startswith(INTRODUCTION)
    assert len(opened([*items, item()])) == 5
