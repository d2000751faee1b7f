"""An index is asked for known weaknesses only if it has them."""

import json

import pytest

from tools.audit import has_service


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps({"info": {}, "vulnerabilities": []}), True),
        ('{"info": {}}', False),
        ("<p>", False),
    ],
)
def test_an_index_with_weaknesses(tmp_path, text, expected):
    (tmp_path / "json").write_text(text)
    assert has_service((tmp_path / "json").as_uri()) is expected


def test_an_index_that_is_away(tmp_path):
    assert not has_service((tmp_path / "json").as_uri())
