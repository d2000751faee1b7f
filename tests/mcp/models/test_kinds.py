"""The bodies that tools over models send."""

from engine.mcp.models.kinds import KINDS
from tests.support.each import each


@each("kind", KINDS)
def test_what_is_required_is_an_argument(kind):
    assert set(KINDS[kind].required) <= set(KINDS[kind].properties)


def test_a_chat_in_the_format_of_messages_has_its_bound():
    body = KINDS["chat"].body({"prompt": "a", "system": "b"}, "m", "/messages")
    messages = [{"role": "user", "content": "a"}]
    assert body == {"model": "m", "max_tokens": 4_096, "system": "b", "messages": messages}
