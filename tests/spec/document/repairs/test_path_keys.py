"""Path keys that are not path templates."""

from __future__ import annotations

from pathlib import Path

from tests.support.documents import document, get, warning_codes
from tests.support.each import each


@each(
    ("path", "code"),
    [
        ("x", "MW205"),
        ("/<upload_url", None),
        ("/a//b", "MW205"),
        ("/v1/messages?beta=true", "MW228"),
        ("/<upload_url>", "MW228"),
        ("/a?b=<c", "MW228"),
        ("/{a}/{a}", "MW205"),
        ("/{}", "MW205"),
        ("/{a}{b}", "MW205"),
        ("/{a", "MW205"),
    ],
)
def test_an_odd_path_is_a_problem(tmp_path: Path, path: str, code: str | None) -> None:
    found = warning_codes(tmp_path, document(paths={path: {"get": get()}, "/y": {"get": get("y")}}))
    assert found == ([code] if code else [])
