"""What OpenTelemetry calls the operations and providers of generative AI.

https://github.com/open-telemetry/semantic-conventions-genai, attributes `gen_ai.operation.name` and
`gen_ai.provider.name`, whose values are these where one fits and anybody's own where none does.
"""

from __future__ import annotations

_OPERATIONS = {
    "createChatCompletion": "chat",
    "createMessage": "chat",
    "createResponse": "chat",
    "createCompletion": "text_completion",
    "createEmbedding": "embeddings",
    "embedContent": "embeddings",
    "batchEmbedContents": "embeddings",
    "generateContent": "generate_content",
    "streamGenerateContent": "generate_content",
}
_PROVIDERS = {"openai": "openai", "anthropic": "anthropic", "gemini": "gcp.gemini"}


def operation_name(operation: str) -> str:
    """The kind of an operation known as `spec.operationId`: `chat`, or its own name where there is
    none, `openai.createImage` -> `createImage`."""
    name = operation.partition(".")[2] or operation
    return _OPERATIONS.get(name, name)


def provider_name(upstream: str, dialect: str) -> str:
    """Who provides what an upstream serves, as far as its dialect tells; else the upstream."""
    return _PROVIDERS.get(dialect, upstream)
