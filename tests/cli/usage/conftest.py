import pytest

from tests.support.exported_ledger import write_ledger


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    """The folder of a small ledger."""
    monkeypatch.chdir(tmp_path)
    for name in ("MODELWAY_CONFIG", "MODELWAY_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    write_ledger(tmp_path)
    return tmp_path
