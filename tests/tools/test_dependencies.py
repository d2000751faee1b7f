"""The dependencies of Modelway for operation, direct and indirect."""

import platform
from email import message_from_string

from tools.dependencies import EXTRAS, installed


def test_dependencies_are_direct_indirect_and_those_of_extras():
    names = [entry.metadata["Name"].lower() for entry in installed()]
    assert {"falcon", "markupsafe", "botocore", "psycopg-binary"} <= set(names)
    assert not {"modelway", "pytest", "ruff"} & set(names)
    assert len(names) == len(set(names))


def test_extras_are_left_out():
    assert "botocore" not in [entry.metadata["Name"] for entry in installed(extras=())]


def test_nothing_that_is_installed_is_compiled():
    """A wheel of PyPI names the systems that it runs on, such as manylinux; one that was built on
    this machine only names the machine."""
    extras = (*EXTRAS, "test", "lint", "docs")
    tags = [
        (entry.metadata["Name"], tag)
        for entry in installed(extras=extras)
        for tag in (message_from_string(entry.read_text("WHEEL") or "").get_all("Tag") or ())
    ]
    assert len(tags) > 100
    compiled = f"-linux_{platform.machine()}"
    assert [name for name, tag in tags if tag.endswith(compiled)] == []
