"""The list of models, and the size of its pages."""

import pytest

from engine.dialects.interface.model_list import ModelList, page_size
from engine.values.errors import GatewayError


def test_a_model_has_an_index():
    models = ModelList(["a", "b"], [{}, {}])
    assert (len(models), models.index("b")) == (2, 1)
    assert (models.index("c"), models.index(None)) == (None, None)


@pytest.mark.parametrize(("parameters", "size"), [({}, 20), ({"n": ""}, 20), ({"n": "5"}, 5)])
def test_a_page_has_the_requested_size_or_the_default(parameters, size):
    assert page_size(parameters, "n", 20) == size


@pytest.mark.parametrize("text", ["0", "1001", "-5", "x", "5.0", "9" * 30])
def test_an_invalid_page_size_names_its_parameter(text):
    with pytest.raises(GatewayError) as excinfo:
        page_size({"n": text}, "n", 20)
    assert (excinfo.value.status, excinfo.value.param) == (400, "n")
