"""The operations that requests of the stages' tests are for."""

from __future__ import annotations

import pytest

from engine.spec.operation import Operation
from tests.support.item_requests import read_operations


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Operation]:
    return read_operations(tmp_path_factory.mktemp("spec"))
