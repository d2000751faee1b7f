"""Only `engine/dialects` names dialects, and each language of chat its own."""

import ast
from pathlib import Path

import engine
from engine import dialects

ENGINE = Path(engine.__file__).parent


def test_no_other_module_names_the_dialect_of_a_vendor():
    names = set(dialects.names()) - {dialects.PLAIN}
    literals = [
        f"{path.relative_to(ENGINE)}:{node.lineno} {node.value!r}"
        for path in sorted(ENGINE.rglob("*.py"))
        if not path.is_relative_to(ENGINE / "dialects")
        and ENGINE / "translations" not in path.parents[1:]
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert literals == []


def test_the_default_and_the_plain_dialect_exist():
    assert {dialects.DEFAULT, dialects.PLAIN} <= set(dialects.names())
    assert dialects.by_request()[-1] is dialects.default()
