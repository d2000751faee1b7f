"""Certificates that change while a client lives."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.upstream.client.tls import TlsFiles
from tests.support.peer import Authority, Certificate


@pytest.fixture
def client(tmp_path: Path) -> Certificate:
    return Authority(tmp_path).issue("client")


def renew(certificate: Certificate, folder: Path) -> None:
    """Another certificate in the same files."""
    folder.mkdir()
    for new, old in zip(Authority(folder).issue("client"), certificate, strict=True):
        shutil.copy(new, old)


def test_unchanged_files_are_not_read_again(client: Certificate) -> None:
    files = TlsFiles(None, client, verify=False)
    assert files.context() is files.context()


def test_changed_files_are_read_for_the_next_connection(
    client: Certificate, tmp_path: Path
) -> None:
    files = TlsFiles(None, client, verify=False)
    before = files.context()
    renew(client, tmp_path / "new")
    after = files.context()
    assert after is not before
    assert files.context() is after


def test_changed_authorities_are_read(client: Certificate, tmp_path: Path) -> None:
    ca = str(tmp_path / "ca.pem")
    files = TlsFiles(ca, None, verify=True)
    before = files.context().get_ca_certs()
    (tmp_path / "new").mkdir()
    shutil.copy(Authority(tmp_path / "new").path, ca)
    assert files.context().get_ca_certs() != before


def test_in_the_middle_of_a_renewal_the_old_certificate_stays(
    client: Certificate, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = TlsFiles(None, client, verify=False)
    before = files.context()
    key = Path(client.key).read_bytes()
    Path(client.key).unlink()
    assert files.context() is files.context() is before
    assert caplog.text.count("cannot be used") == 1
    Path(client.key).write_bytes(key)
    assert files.context() is not before


def test_files_that_cannot_be_used_at_the_start_are_an_error(client: Certificate) -> None:
    Path(client.key).write_text("nothing")
    with pytest.raises(OSError):
        TlsFiles(None, client, verify=False)


def test_without_files_nothing_is_looked_at() -> None:
    files = TlsFiles(None, None, verify=False)
    assert files.context() is files.context()


def test_upstreams_without_files_share_the_authorities_of_the_system() -> None:
    one, other = (TlsFiles(None, None, verify=True) for _ in range(2))
    assert one.context() is other.context()
    assert one.context() is not TlsFiles(None, None, verify=False).context()
