"""A project that the cases of a module share."""

import pytest

from tests.support.rehearsing import planned


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return planned(tmp_path_factory.mktemp("project"))
