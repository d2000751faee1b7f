"""Values of a token that are not valid."""

import pytest

from tests.support.commands import assert_refused

pytestmark = pytest.mark.usefixtures("empty_folder")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--name", ""], "a token needs a name"),
        (["--name", " a"], "no surrounding space"),
        (["--name", "a\nb"], "visible characters"),
        (["--name", "a" * 201], "at most 200"),
        (["--name", "a\udcff"], "visible characters"),
        (["--models", ""], "is not a model or wildcard"),
        (["--models", "a,,b"], "is not a model or wildcard"),
        (["--operations", "chat"], "is not an operation like openai.createChatCompletion"),
        (["--ips", "10.0.0.1/8"], "write 10.0.0.0/8"),
        (["--ips", "10.0.0.0/8,localhost"], "'localhost' is not an address or network"),
        (["--expires", "90"], "'90' is not a time like 90d or 2027-01-31"),
        (["--expires", "soon"], "'soon' is not a time"),
        (["--expires", "0s"], "not a time in the future"),
        (["--expires", "2020-01-31"], "not a time in the future"),
        (["--expires", "2027-02-30"], "is not a time"),
        (["--rate", "60"], "is not an amount per time like 60/1m"),
        (["--rate", "0/1m"], "is not an amount per time"),
        (["--rate", "60/0s"], "has a window of 0 seconds"),
        (["--token-budget", "1MB/1d"], "is not an amount per time"),
        (["--budget", "20/30d"], "is not money per time like 20 USD/30d"),
        (["--budget", "20 EUR/30d"], "is in EUR, but prices are in USD"),
        (["--concurrency", "0"], "is not a number of requests from 1"),
        (["--concurrency", "1.5"], "is not a number of requests from 1"),
        (["--note", "two\nlines"], "one line"),
        (["--priority", "urgent"], "'urgent' is not a priority; write low, normal, high"),
        (["--team", ""], "a team has 1 to 200 visible characters"),
        (["--team", "a "], "no surrounding space"),
    ],
)
def test_invalid_options_are_refused(local, tmp_path, options, words):
    name = [] if "--name" in options else ["--name", "a"]
    assert_refused(local("create", *name, *options), words, options[0], status=2)
    assert not (tmp_path / "x.db").exists()
