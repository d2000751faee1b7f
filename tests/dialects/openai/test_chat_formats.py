"""The chat formats of the OpenAI dialect."""

import json

import pytest

from engine.dialects.openai.chat_formats import CHAT_FORMATS
from tests.support.documents import ask, shipped

FORMATS = pytest.mark.parametrize("chat_format", CHAT_FORMATS, ids=lambda each: each.name)


def operation_of(chat_format):
    """The operation of the shipped document at the path of a format."""
    (operation,) = [
        operation
        for operation in shipped("openai")[0].operations.values()
        if operation.method == "POST" and operation.path.endswith(chat_format.path_suffix)
    ]
    return operation


@FORMATS
def test_the_document_accepts_the_first_request(chat_format):
    arguments = chat_format.arguments("gpt-4o")
    assert ask(operation_of(chat_format), json.dumps(arguments).encode())["model"] == "gpt-4o"


@FORMATS
def test_there_is_a_program_in_both_languages(chat_format):
    assert set(chat_format.programs) == {"python", "javascript"}
    assert all("@BASE@" in program.start for program in chat_format.programs.values())
