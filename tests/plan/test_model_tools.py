"""Models as tools in the plan."""

from engine.plan.assembly.make_plan import make_plan
from engine.plan.model_tools import route_of
from tests.support.each import each
from tests.support.paths import ROOT

CONFIG = f"""version: 1
specs: {{openai: {{document: {ROOT}/openapi/openai.yaml, dialect: openai}}}}
upstreams: {{main: {{url: "https://a.example.com/v1", dialect: openai}}}}
models:
  any: {{to: [{{upstream: main}}]}}
  talk: {{to: [{{upstream: main}}], operations: [openai.createChatCompletion]}}
mcp: {{tools: {{path: /mcp, models: {{chat: [talk, any], embed: any}}}}}}
routes:
  - {{operation: openai.createChatCompletion, model: $request.body#/model}}
  - {{operation: openai.createEmbedding, model: $request.body#/model}}
"""


def planned(folder, text=CONFIG):
    (folder / "gateway.yaml").write_text(text)
    return make_plan(folder / "gateway.yaml", {})


def test_each_kind_has_the_route_of_its_operation(tmp_path):
    routes = planned(tmp_path).plan.routes
    assert route_of("chat", routes).operation.id == "openai.createChatCompletion"
    assert route_of("embed", routes).operation.id == "openai.createEmbedding"
    assert route_of("rerank", routes) is None


@each(
    "old, new, code",
    [
        ("embed: any", "rerank: any", "MW345"),
        ("embed: any", "embed: talk", "MW345"),
        ("embed: any", "embed: anny", "MW314"),
        ("embed: any", 'embed: "a*"', "MW314"),
        (
            "path: /mcp,",
            "path: /mcp, operations: [openai.createEmbedding], "
            "tools: {openai.createEmbedding: {name: embed}},",
            "MW336",
        ),
    ],
)
def test_a_mistake_has_a_code(tmp_path, old, new, code):
    result = planned(tmp_path, CONFIG.replace(old, new))
    assert code in [problem.code for problem in result.findings.errors]
