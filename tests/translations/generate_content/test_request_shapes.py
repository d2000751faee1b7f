"""Requests in Protocol Buffers' JSON, whose members may have their names in snake case."""

import pytest

from engine.translations.generate_content.request_shapes import Blob, ContentObject, FunctionCall


@pytest.mark.parametrize("name", ["mimeType", "mime_type"])
def test_a_member_may_have_either_name(name):
    blob = Blob.read(b'{"%b": "image/png", "data": "iVBO"}' % name.encode(), "", [])
    assert (blob.mime_type, blob.data) == ("image/png", "iVBO")


def test_the_arguments_of_a_call_keep_their_names():
    call = FunctionCall.read(b'{"name": "f", "args": {"my_name": 1}}', "", [])
    assert bytes(call.args) == b'{"my_name": 1}'


def test_one_item_may_stand_for_its_list():
    content = ContentObject.read(b'{"parts": {"text": "Hi"}}', "", [])
    assert [bytes(part) for part in content.parts or ()] == [b'{"text": "Hi"}']
