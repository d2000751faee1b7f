"""Filling references in."""

import pytest

from engine.config import providers
from engine.config.provider_defaults import credential_text
from engine.config.references import expander, near_variable
from engine.source.reader import read
from engine.source.values import ExpandError
from tests.support.each import each


@pytest.fixture
def fill(tmp_path):
    (tmp_path / "secret").write_text("from-file\n")
    (tmp_path / "crlf").write_bytes(b"windows\r\n")
    (tmp_path / "lines").write_text(" two\nlines \n\n")
    (tmp_path / "empty").write_text("")
    (tmp_path / "latin").write_bytes("é".encode("latin-1"))
    environ = {"KEY": "sk-1", "EMPTY": "", "ODD": "${KEY} $${x} a:b", "_x1": "under"}
    return expander(environ, tmp_path)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("plain", "plain"),
        ("", ""),
        ("${KEY}", "sk-1"),
        ("Bearer ${KEY}!", "Bearer sk-1!"),
        ("${KEY}${KEY}", "sk-1sk-1"),
        ("${_x1}", "under"),
        ("${KEY:-default}", "sk-1"),
        ("${NONE:-default}", "default"),
        ("${NONE:-}", ""),
        ("${EMPTY:-default}", "default"),
        ("${NONE:-https://host:80/v1}", "https://host:80/v1"),
        ("${NONE:-a:-b}", "a:-b"),
        ("${file:secret}", "from-file"),
        ("${file:crlf}", "windows"),
        ("${file:lines}", " two\nlines "),
        ("${file:empty}", ""),
        ("$${KEY}", "${KEY}"),
        ("$$${KEY}", "$${KEY}"),
        ("$KEY $ $$ {KEY}", "$KEY $ $$ {KEY}"),
        ("$request.body#/model", "$request.body#/model"),
    ],
)
def test_references_are_filled_in(fill, text, filled):
    assert fill(text) == filled


def test_a_path_may_be_absolute(tmp_path):
    (tmp_path / "secret").write_text("absolute")
    assert expander({}, tmp_path / "elsewhere")(f"${{file:{tmp_path}/secret}}") == "absolute"


def test_expanded_values_are_not_expanded_again(fill):
    assert fill("${ODD}") == "${KEY} $${x} a:b"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${NONE}", "environment variable 'NONE' is not set"),
        ("${KEY", "'${' without '}'"),
        ("a ${", "'${' without '}'"),
        ("${}", "is not a reference"),
        ("${1KEY}", "is not a reference"),
        ("${KEY-x}", "is not a reference"),
        ("${KEY:default}", "is not a reference"),
        ("${ KEY }", "is not a reference"),
        ("${file:none}", "cannot be read: No such file"),
        ("${file:.}", "cannot be read"),
        ("${file:latin}", "is not UTF-8"),
    ],
)
def test_a_reference_that_cannot_be_expanded_raises_a_message_and_a_hint(fill, text, words):
    with pytest.raises(ExpandError) as raised:
        fill(text)
    assert words in str(raised.value)


def test_an_unset_variable_brings_the_near_one_or_the_way_to_a_default(fill):
    with pytest.raises(ExpandError) as raised:
        expander({"OPENAI_API_KEY": "sk-1"}, None)("${OPENAI_APIKEY}")
    assert raised.value.hint == "did you mean 'OPENAI_API_KEY'?"
    with pytest.raises(ExpandError) as raised:
        fill("${NONE}")
    assert "${NONE:-" in raised.value.hint


def test_no_error_says_what_a_variable_holds(fill):
    for text in ("${KEY} ${NONE}", "${KEY} ${file:none}", "${KEY} ${", "${KEY} ${1}"):
        with pytest.raises(ExpandError) as raised:
            fill(text)
        assert "sk-1" not in str(raised.value) + raised.value.hint


def test_a_value_can_never_add_keys_or_other_yaml(tmp_path):
    marked = read("a: ${EVIL}\nb: 1\n", "f", expander({"EVIL": "x\nb: 2\nc: [&y *y]"}, tmp_path))
    assert (marked.value, marked.problems) == ({"a": "x\nb: 2\nc: [&y *y]", "b": 1}, [])


def test_only_the_values_of_references_are_encoded(tmp_path):
    (tmp_path / "f").write_text("c")
    expand = expander({"A": "a"}, tmp_path, str.upper)
    assert expand("x ${A} ${B:-b} ${file:f} $${") == "x A B C ${"


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
