"""Other MCP servers in the plan."""

from engine.plan.assembly.make_plan import make_plan
from engine.plan.tool_pins import pins_text
from engine.plan.tool_servers import used_upstreams
from tests.support.each import each
from tests.support.mcp_upstreams import tool

CONFIG = """version: 1
upstreams:
  far: {mcp: https://far.example.com/mcp/?team=1}
  near: {url: https://near.example.com}
mcp:
  all: {path: /mcp, servers: {far: {}}}
"""
SHOP = """openapi: 3.1.0
info: {title: Shop, version: "1"}
paths: {/a: {get: {operationId: a, responses: {"200": {description: ok}}}}}
"""


def planned(folder, text=CONFIG, **files):
    for name, content in {"gateway.yaml": text, "shop.yaml": SHOP, **files}.items():
        (folder / name).write_text(content)
    return make_plan(folder / "gateway.yaml", {})


def test_a_server_has_a_route_of_its_own_to_its_address(tmp_path):
    (upstream,) = used_upstreams(planned(tmp_path).plan)
    assert (upstream.path, upstream.query) == ("/mcp/", "team=1")
    assert upstream.route.to[0].upstream == "far"
    assert upstream.pins is None


def test_pins_are_read_from_their_file(tmp_path):
    text = CONFIG.replace("team=1}", "team=1, pins: far.json}")
    result = planned(tmp_path, text, **{"far.json": pins_text("far", [tool("show")])})
    assert [*result.plan.tool_upstreams["far"].pins] == ["show"]
    assert any(path.name == "far.json" for path in result.files)


def test_a_call_is_sent_again_only_if_it_did_not_reach_the_server(tmp_path):
    config = planned(tmp_path).plan.config
    assert config.upstreams["far"].retry.on == {"connect"}
    assert "5xx" in config.upstreams["near"].retry.on


@each(
    "old, new, code",
    [
        ("servers: {far", "servers: {fat", "MW313"),
        ("servers: {far", "servers: {near", "MW343"),
        ("team=1}", "team=1, pins: none.json}", "MW344"),
        ("team=1}", "team=1, pins: shop.yaml}", "MW344"),
        ("team=1}", "team=1, url: https://a.example.com}", "MW105"),
        ("near.example.com}", "near.example.com, pins: a.json}", "MW105"),
        ("version: 1", "version: 1\nspecs: {far: {document: shop.yaml}}", "MW343"),
        (
            "version: 1",
            "version: 1\nspecs: {shop: {document: shop.yaml}}\n"
            "routes: [{operation: shop.a, to: [{upstream: far}]}]",
            "MW343",
        ),
    ],
)
def test_a_mistake_has_a_code(tmp_path, old, new, code):
    result = planned(tmp_path, CONFIG.replace(old, new))
    assert code in [problem.code for problem in result.findings.errors]
