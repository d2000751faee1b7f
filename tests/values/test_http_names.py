"""The HTTP methods that operations may have."""

from engine.values.http_names import is_served
from tests.support.each import each


@each(
    ("method", "served"),
    [
        *[(name, True) for name in ("GET", "QUERY", "M-SEARCH", "LINK")],
        *[(name, False) for name in ("CONNECT", "", "Get", "A B", "UP", "LINK\n", "X" * 21)],
    ],
)
def test_a_method_is_served_if_requests_can_have_it(method, served):
    assert is_served(method) is served
