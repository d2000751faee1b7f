"""An operation that is routed by model, and a list of them in a sentence."""

import pytest

from engine.config.model_operation import ModelOperation, join_operation_names


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "no operation"), (1, "s.0"), (2, "s.0 and s.1"), (3, "s.0, s.1 and s.2")],
)
def test_operations_are_listed_in_a_sentence(count, words):
    assert join_operation_names(ModelOperation(f"s.{n}", "") for n in range(count)) == words


def test_many_operations_are_cut_in_a_sentence():
    assert join_operation_names([ModelOperation("openai.chat", "openai")] * 100).endswith(
        "openai.chat and 92 more"
    )
