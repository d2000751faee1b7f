"""What a required region leaves without a target."""

from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Level
from tests.support.rehearsing import DOCUMENT, write

CONFIG = """version: 1
specs: {{shop: {{document: shop.yaml, dialect: openai}}}}
upstreams:
  us: {{url: "http://us.test/v1", regions: [us]}}
  eu: {{url: "http://eu.test/v1", regions: [eu]}}
  both: {{url: "http://both.test/v1", regions: [eu, us]}}
  silent: {{url: "http://silent.test/v1"}}
models:
  here: {{to: [{{upstream: eu}}, {{upstream: us}}]}}
  back: {{to: [{{upstream: us}}], fallback: [here]}}
{models}
routes:
  - {{operation: shop.chat, model: $request.body#/model{route}}}
  - {{operation: shop.show, to: [{{upstream: {fixed}}}]}}
teams: {{{teams}}}
tokens:
{tokens}
"""
TOKEN = "  - {{name: ann, sha256: %s, {}}}" % ("ab" * 32)


def problems(folder, models="", route="", fixed="eu", teams="", tokens="  []"):
    config = CONFIG.format(models=models, route=route, fixed=fixed, teams=teams, tokens=tokens)
    findings = make_plan(write(folder, config, DOCUMENT), {}).findings
    return [(p.code, p.level, p.message) for p in findings.problems if p.code.startswith("MW53")]


def test_a_fallback_in_the_region_is_a_target(tmp_path):
    teams = "vienna: {require: {region: eu}}"
    assert problems(tmp_path, teams=teams) == []


def test_a_model_elsewhere_is_an_error_that_says_where(tmp_path):
    models = "  away: {to: [{upstream: both}, {upstream: silent}]}"
    ((code, level, message),) = problems(tmp_path, models, teams="v: {require: {region: eu}}")
    assert (code, level) == ("MW532", Level.ERROR)
    assert message == (
        "team 'v' requires eu, where no target of the model 'away' is: "
        "both is in eu, us, silent has no `regions`"
    )


def test_a_model_that_the_holder_may_not_use_needs_no_target(tmp_path):
    models = "  away: {to: [{upstream: us}]}"
    teams = "v: {models: [here, back], require: {region: eu}}"
    assert problems(tmp_path, models, teams=teams) == []


def test_what_a_token_and_its_team_require_holds_together(tmp_path):
    tokens = TOKEN.format("team: v, models: [here], require: {region: us}")
    ((code, _, message),) = problems(
        tmp_path, teams="v: {require: {region: 'eu*'}}", tokens=tokens
    )[:1]
    assert code == "MW532"
    assert message.startswith("token 'ann' requires us and eu*, where no target of")


def test_a_route_requires_a_region_of_all_models(tmp_path):
    models = "  away: {to: [{upstream: us}]}"
    ((_, level, _),) = problems(tmp_path, models, route=", require: {region: eu}")
    assert level is Level.ERROR
    route = ", require: {region: eu}, hosts: [eu.test]"
    ((_, level, _),) = problems(tmp_path, models, route=route)
    assert level is Level.WARNING


def test_a_fixed_target_elsewhere_is_a_warning(tmp_path):
    ((code, level, message),) = problems(tmp_path, fixed="us", teams="v: {require: {region: eu}}")
    assert (code, level) == ("MW533", Level.WARNING)
    assert message == "team 'v' requires eu, where no target of shop.show is"


def test_an_operation_that_the_holder_may_not_call_needs_no_target(tmp_path):
    teams = "v: {operations: [shop.chat], require: {region: eu}}"
    assert problems(tmp_path, fixed="us", teams=teams) == []


def test_a_region_that_no_upstream_has_is_an_error(tmp_path):
    found = problems(tmp_path, teams="v: {require: {region: [eu, ue]}}")
    assert [each[0] for each in found] == ["MW531"]
    assert "'ue'" in found[0][2]
