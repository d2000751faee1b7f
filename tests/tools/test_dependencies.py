"""The dependencies of Modelway for operation, direct and indirect."""

from tools.dependencies import installed


def test_dependencies_are_direct_indirect_and_those_of_extras():
    names = [entry.metadata["Name"].lower() for entry in installed()]
    assert {"falcon", "markupsafe", "botocore", "psycopg-binary"} <= set(names)
    assert not {"modelway", "pytest", "ruff"} & set(names)
    assert len(names) == len(set(names))


def test_extras_are_left_out():
    assert "botocore" not in [entry.metadata["Name"] for entry in installed(extras=())]
