"""Names of tools are ones that every known vendor and client takes, and stable."""

import re

from hypothesis import given
from hypothesis import strategies as st

from engine.plan.tool_names import MAX_NAME, longest, tool_name
from tests.support.each import each

LONG = "code-security/attach-enterprise-configuration-to-all-repositories-now"


@each(
    ("operation", "name"),
    [
        ("createOrder", "createOrder"),
        ("issues/create-comment", "issues_create-comment"),
        ("v1.orders.list", "v1_orders_list"),
        ("GET /orders/{id}/items", "get_orders_by_id_items"),
        ("POST /", "post"),
        ("2fa", "_2fa"),
        ("-x-", "_-x-"),
        ("__", "tool_"),
        ("\u6ce8\u6587", "tool_"),
    ],
)
def test_a_name_is_that_of_the_operation_without_what_clients_refuse(operation, name):
    assert tool_name(operation).startswith(name)
    assert len(tool_name(operation)) == len(name) + (6 if name == "tool_" else 0)


def test_a_long_name_is_cut_between_words_and_stays_unique():
    name, other = tool_name(LONG, 50), tool_name(f"{LONG}-2", 50)
    assert name.startswith("code-security_attach-enterprise_")
    assert name != other
    assert max(len(name), len(other)) <= 50
    assert tool_name(LONG, 50) == name


def test_the_prefix_of_clients_counts():
    assert longest("orders") == MAX_NAME - len("mcp__orders__")
    assert longest("x" * 60) == 24


@given(st.text(max_size=100), st.integers(24, 64))
def test_every_name_is_accepted(operation, most):
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", tool_name(operation, most))
    assert len(tool_name(operation, most)) <= most
