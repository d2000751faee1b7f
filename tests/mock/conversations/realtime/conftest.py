"""A realtime session of the mock."""

import pytest

from tests.support.realtime_mock import conversation


@pytest.fixture
def talk():
    return conversation()
