"""The files of a section `tls`."""

from __future__ import annotations

import pytest

from tests.support.configs import read_errors


@pytest.mark.parametrize(
    ("tls", "codes"),
    [
        ("ca: no.pem", ["MW106"]),
        ("certificate: no.pem, key: no.key", ["MW106", "MW106"]),
        ("key: no.key", ["MW105", "MW106"]),
        ("", []),
    ],
)
def test_files_that_are_not_there_and_a_key_alone(tls, codes):
    text = f"stores: {{counters: 'rediss://h', redis: {{tls: {{{tls}}}}}}}\n"
    assert sorted(code for *_, code in read_errors(text)) == codes
