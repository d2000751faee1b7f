"""Where the metrics of a gateway are."""

import pytest

from engine.cli.top.metrics import metrics_url


@pytest.mark.parametrize(
    ("listen", "url"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080/metrics"),
        ("0.0.0.0:80", "http://127.0.0.1:80/metrics"),
        ("[::]:8080", "http://[::1]:8080/metrics"),
        ("gateway:8080", "http://gateway:8080/metrics"),
        ("unix:/run/mw.sock", "http+unix://%2Frun%2Fmw.sock/metrics"),
    ],
)
def test_the_url_is_made_of_the_listen_address(listen, url):
    assert metrics_url(listen, "/metrics") == url
