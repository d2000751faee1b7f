"""One gateway and one mock for all end-to-end tests of a session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.running import Platform
from tests.support.running import platform as run


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with run(tmp_path_factory.mktemp("platform")) as running:
        yield running
