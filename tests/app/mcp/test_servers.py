"""MCP servers in an application: who is answered, what is listed, and what is observed."""

import json

from tests.support.each import each
from tests.support.mcp_messages import call, head_of, message, modern
from tests.support.mcp_shop import ALICE, BOB, CAROL, DAVE, ERIN


def tools_of(shop, token):
    status, document = shop.ask(modern("tools/list"), token=token)
    assert status == 200
    return [tool["name"] for tool in document["result"]["tools"]]


@each(
    "document, method, revision, code",
    [
        (modern("tools/list"), "tools/list", "2026-07-28", ""),
        (modern("server/discover"), "server/discover", "2026-07-28", ""),
        (message("initialize"), "initialize", "2025-11-25", ""),
        (message("x"), "other", "2025-03-26", "method_not_found"),
        (call("drop"), "tools/call", "2026-07-28", "invalid_params"),
        (call("show", {"i": 1}), "tools/call", "2026-07-28", "invalid_arguments"),
        (b"{", "", "", "parse"),
    ],
)
def test_any_other_message_is_observed_itself(shop, document, method, revision, code):
    shop.ended.clear()
    headers = head_of(document) if "_meta" in str(document) else ()
    shop.post(document, token=ALICE, headers=headers)
    (exchange,) = shop.ended
    mcp = exchange.record.mcp
    assert (exchange.operation, mcp.server, mcp.method, mcp.revision) == (
        "",
        "shop",
        method,
        revision,
    )
    assert (exchange.record.code, exchange.caller.name) == (code, "alice")


def test_a_token_sees_what_it_may_call(shop):
    assert tools_of(shop, ALICE) == ["chat", "create", "find", "rare", "show"]
    assert tools_of(shop, BOB) == ["show"]


def test_a_token_that_may_use_no_model_sees_no_tool_that_needs_one(shop):
    assert tools_of(shop, DAVE) == ["create", "find", "rare", "show"]
    assert "chat" in tools_of(shop, ERIN)


def test_the_schema_of_a_tool_names_no_header(shop):
    _, document = shop.ask(modern("tools/list"), token=ALICE)
    assert "x-mcp-header" not in json.dumps(document)


@each(
    "token, status, code",
    [
        ("", 401, "invalid_api_key"),
        ("mw-x", 401, "invalid_api_key"),
        (CAROL, 403, "address_not_allowed"),
    ],
)
def test_without_a_valid_token_nothing_is_answered(shop, token, status, code):
    got, document = shop.ask(modern("tools/list"), token=token)
    error = document["error"]
    assert (got, error["code"], error["data"]["code"]) == (status, status, code)


def test_a_server_whose_operations_are_open_needs_no_token(shop, shop_upstream):
    for path in ("/open", "/open/"):
        assert shop.text("find", path=path) == '{"id":"7"}'
    _, document = shop.ask(modern("tools/list"), path="/open")
    assert document["result"]["cacheScope"] == "public"
    assert shop.ended[0].caller is None


@each("method", ["GET", "DELETE", "PUT"])
def test_other_methods_are_not_allowed(shop, method):
    assert shop.post(b"", method=method, token=ALICE)[0] == 405
    assert shop.headers["allow"] == "POST"


@each(
    "path",
    [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register",
        "/mcp/sse",
    ],
)
def test_clients_that_look_for_oauth_find_none(shop, path):
    assert shop.post(b"", path=path, method="GET")[0] == 404


@each("path", ["/mcp", "/mcp/"])
def test_with_an_issuer_a_401_leads_to_it(jwt_shop, path):
    status, _ = jwt_shop.ask(modern("tools/list"), path=path)
    url = "http://localhost/.well-known/oauth-protected-resource/mcp"
    expected = f'Bearer resource_metadata="{url}"'
    assert (status, jwt_shop.headers["www-authenticate"]) == (401, expected)
    status, document = jwt_shop.post(b"", path=url.removeprefix("http://localhost"), method="GET")
    assert (status, document) == (
        200,
        {
            "resource": "http://localhost/mcp",
            "resource_name": "shop",
            "authorization_servers": ["https://login.example.com/"],
            "bearer_methods_supported": ["header"],
        },
    )
    assert jwt_shop.ask(modern("tools/list"), token=ALICE)[0] == 200


def test_a_page_of_another_site_is_refused_before_its_token_is_read(shop):
    headers = [*head_of(modern("tools/list")), ("origin", "http://evil.example.com")]
    status, document = shop.post(modern("tools/list"), token=ALICE, headers=headers)
    assert (status, document["error"]["data"]["code"]) == (403, "origin_not_allowed")
