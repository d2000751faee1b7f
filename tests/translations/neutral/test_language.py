"""Which operations a language speaks."""

import pytest

from engine.translations.neutral.events import UpstreamError
from engine.translations.neutral.language import BaseLanguage


def language(**paths):
    def read_error(status, document):
        return UpstreamError(status, "")

    return BaseLanguage(name="n", dialect="d", read_error=read_error, **paths)


@pytest.mark.parametrize(("path", "speaks"), [("/v1/chat", True), ("/chat/x", False)])
def test_an_operation_is_known_by_the_end_of_its_path(path, speaks):
    assert language(path_suffix="/chat").speaks(path) is speaks


@pytest.mark.parametrize(("path", "speaks"), [(":ask", True), (":stream", True), (":askx", False)])
def test_streams_may_have_another_path(path, speaks):
    assert language(path_suffix=":ask", stream_suffix=":stream").speaks(path) is speaks
