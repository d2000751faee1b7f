"""A variable of another vendor is never suggested; a misspelt one of the same vendor is."""

from engine.config import providers
from engine.config.provider_defaults import credential_text
from engine.config.variable_names import near_variable
from tests.support.each import each


@each(
    ("name", "variable"),
    [
        ("VLLM_API_KEY", "OPENAI_API_KEY"),
        ("VLLM_API_KEY", "LLM_API_KEY"),
        ("XAI_API_KEY", "ZAI_API_KEY"),
        ("ZAI_API_KEY", "XAI_API_KEY"),
        ("API_KEY_XAI", "API_KEY_ZAI"),
        ("GROK_API_KEY", "GROQ_API_KEY"),
        ("AZURE_API_KEY", "AZURE_OPENAI_API_KEY"),
        ("OPENAI_API_KEY", "OPENROUTER_API_KEY"),
        ("INTERNAL_GATEWAY_API_KEY", "OPENAI_GATEWAY_API_KEY"),
        ("API_KEY", "POE_API_KEY"),
        ("API_KEY", "HF_API_KEY"),
        ("UPSTREAM_TOKEN", "HF_TOKEN"),
    ],
)
def test_a_variable_of_another_vendor_is_not_suggested(name, variable):
    assert near_variable(name, [variable]) is None


@each(
    ("name", "variable"),
    [
        ("OPENAI_API_KYE", "OPENAI_API_KEY"),
        ("OPENAI_APIKEY", "OPENAI_API_KEY"),
        ("OPEANI_API_KEY", "OPENAI_API_KEY"),
        ("OPENAI_API_KEY", "OPENIA_API_KEY"),
        ("ANTROPIC_API_KEY", "ANTHROPIC_API_KEY"),
        ("SHOP_TOKEN", "SHOP_TOKENS"),
        ("MY_VLLM_KEY", "MY_VLLM_KEYS"),
    ],
)
def test_a_misspelt_variable_is_suggested(name, variable):
    assert near_variable(name, [variable, "PATH"]) == variable


def test_a_farther_variable_of_the_same_vendor_is_found_behind_one_of_another():
    variables = ["ZAI_API_KEY", "XAI_API_KEYS"]
    assert near_variable("XAI_API_KEY", variables) == "XAI_API_KEYS"


def test_variables_in_lower_case_are_not_suggested():
    assert near_variable("SHOP_TOKEN", ["shop_tokens"]) is None


def test_no_vendors_key_is_suggested_for_that_of_another():
    credentials = {name: providers.read(name).credential for name in providers.names()}
    variables = {
        name: credential_text(credential).partition("${")[2].partition("}")[0]
        for name, credential in credentials.items()
        if credential is not None
    }
    for name, variable in variables.items():
        others = {other for other in variables.values() if other and other != variable}
        assert variable == "" or near_variable(variable, others) in (None, *_shared(name)), name


def _shared(name):
    """Variables of products of the same company."""
    return ("AZURE_API_KEY", "AZURE_COGNITIVE_SERVICES_API_KEY") if "azure" in name else ()
