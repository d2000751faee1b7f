"""Requests to clouds that sell other vendors' models equal those of the SDK that is made for the
cloud: path, query, body and the place of the credential.

Callers use the SDK of the model's own vendor.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic, AnthropicBedrock, AnthropicVertex, omit
from google import genai
from google.genai import types
from openai import AzureOpenAI, OpenAI, RateLimitError

from tests.support.bedrock_upstream import BedrockUpstream, bedrock_upstream
from tests.support.recorded import RecordedGateway, recorded_gateway
from tests.support.recording import ReceivedRequest, answer
from tests.support.running import ALL, TOKENS, Running, gateway
from tests.support.signatures import is_signed, signed_names
from tests.support.translating import CHAT_ROUTES, SPECS
from tests.support.translations import CASES

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ARN = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc"
ACCESS, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
REGION = "eu-central-1"
PLACE = "/v1/projects/our-project/locations/europe-west1/publishers"
CONFIG = f"""
version: 1
server: {{listen: "{{listen}}", workers: 1}}
{SPECS}upstreams:
  bedrock:
    provider: bedrock-claude
    url: "${{UPSTREAM}}"
    credential: {{aws: {{region: {REGION}, access_key: {ACCESS}, secret_key: {SECRET}}}}}
    proxy: ""
  converse:
    provider: bedrock
    url: "${{UPSTREAM}}"
    credential: {{aws: {{region: {REGION}, access_key: {ACCESS}, secret_key: {SECRET}}}}}
    proxy: ""
  vertex-claude:
    {{provider: vertex-claude, url: "${{UPSTREAM}}{PLACE}/anthropic", variables: {{project: p}},
     credential: {{bearer: token}}, proxy: ""}}
  vertex:
    {{provider: vertex, url: "${{UPSTREAM}}{PLACE.replace("/v1/", "/v1beta1/")}/google",
     variables: {{project: p}}, credential: {{bearer: token}}, proxy: ""}}
  azure:
    {{provider: azure-deployments, url: "${{UPSTREAM}}/openai", variables: {{resource: ours}},
     credential: {{header: api-key, value: key}}, proxy: ""}}
  azure-v1:
    {{provider: azure, url: "${{UPSTREAM}}/openai/v1", variables: {{resource: ours}},
     credential: {{header: api-key, value: key}}, proxy: ""}}
  openai-on-bedrock:
    {{provider: bedrock-openai, url: "${{UPSTREAM}}/openai/v1", credential: {{bearer: key}},
     proxy: ""}}
models:
  bedrock: {{to: [{{upstream: bedrock, model: "{CLAUDE}"}}]}}
  arn: {{to: [{{upstream: bedrock, model: "{ARN}"}}]}}
  converse: {{to: [{{upstream: converse, model: "{ARN}"}}]}}
  beta:
    to:
      - upstream: bedrock
        model: "{CLAUDE}"
        transform:
          {{request: {{body: {{set: {{anthropic_beta: ["{{request.header.anthropic-beta}}"]}}}}}}}}
  vertex-claude: {{to: [{{upstream: vertex-claude, model: "claude-sonnet-4-5@20250929"}}]}}
  vertex: {{to: [{{upstream: vertex, model: gemini-2.5-flash}}]}}
  azure: {{to: [{{upstream: azure, model: our-deployment}}]}}
  azure-v1: {{to: [{{upstream: azure-v1, model: our-deployment}}]}}
  oss: {{to: [{{upstream: openai-on-bedrock, model: openai.gpt-oss-20b-1:0}}]}}
routes:
{CHAT_ROUTES}  - {{operation: anthropic.countTokens, model: $request.body#/model}}
{TOKENS}
"""
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
SDK_VERSION = "2026-10-21"
"""The API versions that the clouds document; the SDK sends newer ones since 2.0."""

QUESTION = [{"role": "user", "content": "Hi"}]


def messages_body(received: ReceivedRequest, version: str) -> Any:
    """The body of a message without its API version, which must be `version`."""
    body = json.loads(received.body)
    assert body.pop("anthropic_version") == version
    return body


def target_and_body(received: ReceivedRequest) -> tuple[str, Any]:
    """The target and the JSON of a request."""
    return received.target, json.loads(received.body)


@pytest.fixture(scope="module")
def aws() -> Iterator[BedrockUpstream]:
    with bedrock_upstream() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def bedrock(tmp_path_factory: pytest.TempPathFactory, aws: BedrockUpstream) -> Iterator[Running]:
    environ = {"UPSTREAM": aws.upstream.url}
    with gateway(tmp_path_factory.mktemp("bedrock"), CONFIG, environ) as running:
        yield running


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedGateway]:
    with recorded_gateway(tmp_path_factory.mktemp("clouds"), CONFIG) as both:
        yield both


def message(client: Any, model: str, *, stream: bool) -> Any:
    """A message by a client of Anthropic's, the same by each of them."""
    arguments: Any = {"model": model, "max_tokens": 99, "messages": QUESTION}
    with closing(client):
        if not stream:
            return client.messages.create(**arguments)
        with client.messages.stream(**arguments) as events:
            return events.get_final_message()


def test_the_query_of_beta_features_stays_here(recorded: RecordedGateway) -> None:
    """Google refuses parameters that it does not know."""
    recorded.upstream.reset()
    recorded.upstream.speak = vendor("messages", stream=False)
    with closing(our_anthropic(recorded.gateway.port)) as client:
        client.beta.messages.create(model="vertex-claude", max_tokens=9, messages=QUESTION)  # type: ignore[arg-type]
    assert recorded.upstream.last.target.endswith("%4020250929:rawPredict")


@pytest.mark.parametrize("model", ["vertex-claude", "bedrock"])
def test_tokens_are_estimated_for_what_counts_none(model: str, recorded: RecordedGateway) -> None:
    recorded.upstream.reset()
    with closing(our_anthropic(recorded.gateway.port)) as client:
        count = client.messages.with_raw_response.count_tokens(
            model=model,
            messages=QUESTION,  # type: ignore[arg-type]
        )
    assert count.headers["x-modelway-estimate"] == "tokens"
    assert count.parse().input_tokens > 0
    assert recorded.upstream.requests == []


def our_anthropic(port: int) -> Anthropic:
    return Anthropic(base_url=f"http://127.0.0.1:{port}", api_key=ALL, max_retries=0)


@STREAMS
@pytest.mark.parametrize(("name", "model"), [("bedrock", CLAUDE), ("arn", ARN)])
def test_claude_on_bedrock(
    name: str, model: str, stream: bool, aws: BedrockUpstream, bedrock: Running
) -> None:
    aws.reset()
    ours = message(our_anthropic(bedrock.port), name, stream=stream)
    theirs = message(
        AnthropicBedrock(
            aws_access_key=ACCESS,
            aws_secret_key=SECRET,
            aws_region=REGION,
            base_url=aws.upstream.url,
            max_retries=0,
        ),
        model,
        stream=stream,
    )
    assert ours.content == theirs.content
    assert (ours.content[0].text, ours.usage.output_tokens) == ("Hello there.", 5)
    from_us, from_sdk = aws.upstream.requests
    body = messages_body(from_us, "bedrock-2023-05-31")
    assert body == messages_body(from_sdk, SDK_VERSION)
    # The SDK leaves the colon of a model's id as it is, botocore does not.
    assert from_us.target == from_sdk.target.replace(":", "%3A")
    assert is_signed(from_us, ACCESS, SECRET, REGION, "bedrock")
    assert is_signed(from_sdk, ACCESS, SECRET, REGION, "bedrock")


@pytest.mark.parametrize("features", [["output-128k-2025-02-19"], []])
def test_a_beta_feature_is_sent_in_the_body(
    features: list[str], aws: BedrockUpstream, bedrock: Running
) -> None:
    aws.reset()
    with closing(our_anthropic(bedrock.port)) as client:
        client.beta.messages.create(
            model="beta",
            max_tokens=9,
            messages=QUESTION,  # type: ignore[arg-type]
            betas=features or omit,  # type: ignore[arg-type]
        )
    assert aws.body.get("anthropic_beta", []) == features


def test_an_exception_of_bedrock_is_named(aws: BedrockUpstream, bedrock: Running) -> None:
    aws.reset()
    aws.exception = "ThrottlingException"
    url = f"http://127.0.0.1:{bedrock.port}/v1"
    client = OpenAI(base_url=url, api_key=ALL, max_retries=0)
    with pytest.raises(RateLimitError) as excinfo:
        completion(client, "bedrock", stream=False)
    assert excinfo.value.code == "ThrottlingException"
    assert "Wait a little." in excinfo.value.message
    with pytest.raises(anthropic.RateLimitError, match=r"rate_limit_error.*Wait a little"):
        message(our_anthropic(bedrock.port), "bedrock", stream=False)


@STREAMS
def test_converse_is_signed(stream: bool, aws: BedrockUpstream, bedrock: Running) -> None:
    aws.reset()
    response = message(our_anthropic(bedrock.port), "converse", stream=stream)
    assert response.content[0].text == "Hello there."
    received = aws.upstream.last
    assert is_signed(received, ACCESS, SECRET, REGION, "bedrock")
    assert {"content-type", "host", "x-amz-date"} <= {*signed_names(received)}
    assert ALL not in str(received.headers)
    assert aws.problems == []


def test_a_signature_of_another_request_is_seen(aws: BedrockUpstream, bedrock: Running) -> None:
    aws.reset()
    message(our_anthropic(bedrock.port), "converse", stream=False)
    received = aws.upstream.last
    changed = ReceivedRequest(received.line, received.headers, received.body + b" ")
    assert not is_signed(changed, ACCESS, SECRET, REGION, "bedrock")
    assert not is_signed(received, ACCESS, SECRET, "us-east-1", "bedrock")


def vendor(language: str, *, stream: bool) -> Any:
    """The answer of a vendor to a text."""
    name, kind = ("text.sse", "text/event-stream") if stream else ("text.json", "application/json")
    body = (CASES / language / "upstream" / name).read_bytes()
    return answer(body, (f"Content-Type: {kind}",))


@STREAMS
def test_claude_on_vertex(stream: bool, recorded: RecordedGateway) -> None:
    recorded.upstream.reset()
    recorded.upstream.speak = vendor("messages", stream=stream)
    ours = message(our_anthropic(recorded.gateway.port), "vertex-claude", stream=stream)
    theirs = AnthropicVertex(
        region="europe-west1",
        project_id="our-project",
        access_token="token",
        base_url=f"{recorded.upstream.url}/v1",
        max_retries=0,
    )
    message(theirs, "claude-sonnet-4-5@20250929", stream=stream)
    assert ours.content[0].text == "Hello there."
    from_us, from_sdk = recorded.upstream.requests
    body = messages_body(from_us, "vertex-2023-10-16")
    assert body == messages_body(from_sdk, SDK_VERSION)
    assert from_us.target == from_sdk.target.replace("@", "%40")
    assert from_us.values("authorization") == from_sdk.values("authorization")


@STREAMS
def test_gemini_on_vertex(stream: bool, recorded: RecordedGateway) -> None:
    recorded.upstream.reset()
    recorded.upstream.speak = vendor("generate_content", stream=stream)
    options = types.HttpOptions(base_url=f"http://127.0.0.1:{recorded.gateway.port}")
    with closing(genai.Client(api_key=ALL, http_options=options)) as client:
        arguments: Any = {"model": "vertex", "contents": "Hi"}
        if stream:
            texts = [o.text for o in client.models.generate_content_stream(**arguments)]
        else:
            texts = [client.models.generate_content(**arguments).text]
    assert "".join(text or "" for text in texts) == "Hello there."
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    model = f"{PLACE.replace('/v1/', '/v1beta1/')}/google/models/gemini-2.5-flash"
    received = recorded.upstream.last
    assert received.target == f"{model}:{method}"
    assert received.values("authorization") == ["Bearer token"]
    assert received.values("x-goog-api-key") == []
    assert json.loads(received.body)["contents"] == [{"parts": [{"text": "Hi"}], "role": "user"}]


def completion(client: OpenAI, model: str, *, stream: bool) -> str:
    with closing(client):
        if not stream:
            whole = client.chat.completions.create(model=model, messages=QUESTION)  # type: ignore[arg-type]
            return whole.choices[0].message.content or ""
        options = {"include_usage": True}
        with client.chat.completions.stream(
            model=model,
            messages=QUESTION,  # type: ignore[arg-type]
            stream_options=options,  # type: ignore[arg-type]
        ) as events:
            return events.get_final_completion().choices[0].message.content or ""


def our_openai(recorded: RecordedGateway) -> OpenAI:
    url = f"http://127.0.0.1:{recorded.gateway.port}/v1"
    return OpenAI(base_url=url, api_key=ALL, max_retries=0)


@STREAMS
def test_a_deployment_of_azure(stream: bool, recorded: RecordedGateway) -> None:
    recorded.upstream.reset()
    recorded.upstream.speak = vendor("chat_completions", stream=stream)
    assert completion(our_openai(recorded), "azure", stream=stream) == "Hello there."
    theirs = AzureOpenAI(
        azure_endpoint=recorded.upstream.url,
        api_version="2024-10-21",
        api_key="key",
        max_retries=0,
    )
    completion(theirs, "our-deployment", stream=stream)
    from_us, from_sdk = recorded.upstream.requests
    assert target_and_body(from_us) == target_and_body(from_sdk)
    assert from_us.values("api-key") == from_sdk.values("api-key") == ["key"]


AT_V1 = [
    ("azure-v1", "our-deployment", "api-key", "key"),
    ("oss", "openai.gpt-oss-20b-1:0", "authorization", "Bearer key"),
]


@STREAMS
@pytest.mark.parametrize(("name", "model", "header", "value"), AT_V1)
def test_what_is_compatible_with_openai(
    name: str, model: str, header: str, value: str, stream: bool, recorded: RecordedGateway
) -> None:
    recorded.upstream.reset()
    recorded.upstream.speak = vendor("chat_completions", stream=stream)
    assert completion(our_openai(recorded), name, stream=stream) == "Hello there."
    received = recorded.upstream.last
    assert received.target == "/openai/v1/chat/completions"
    assert received.values(header) == [value]
    assert json.loads(received.body)["model"] == model
