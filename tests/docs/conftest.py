"""The built site, which several modules read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.site import build


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, built once for all tests of a process."""
    return build(tmp_path_factory.mktemp("site"))
