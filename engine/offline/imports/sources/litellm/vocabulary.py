"""LiteLLM's vocabulary: the providers of its model prefixes, and why some keys are not imported."""

from __future__ import annotations

PROVIDERS = {
    **{name: name for name in ("anthropic", "openai", "gemini", "groq", "mistral", "deepseek")},
    **{name: name for name in ("xai", "openrouter", "perplexity", "voyage", "cerebras", "qwen")},
    **{name: name for name in ("sambanova", "huggingface", "moonshot", "zai", "minimax", "vllm")},
    **{name: name for name in ("ollama", "deepinfra", "nebius", "novita", "databricks", "wandb")},
    **{name: name for name in ("cloudflare", "baseten", "ovhcloud", "siliconflow", "cohere")},
    **{name: name for name in ("scaleway", "requesty", "venice", "upstage", "poe", "bedrock")},
    **dict.fromkeys(("text-completion-openai", "custom_openai", "openai_like"), "openai"),
    **dict.fromkeys(("litellm_proxy", "aiohttp_openai"), "openai"),
    **dict.fromkeys(("azure", "azure_text"), "azure-deployments"),
    **dict.fromkeys(("vertex_ai", "vertex_ai_beta"), "vertex"),
    "azure_ai": "azure-claude",
    "bigmodel": "zhipu",
    "veniceai": "venice",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "cohere_chat": "cohere",
    "jina_ai": "jina",
    "nvidia_nim": "nvidia",
    "dashscope": "qwen",
    "ollama_chat": "ollama",
    "hosted_vllm": "vllm",
    "lm_studio": "lmstudio",
    "github": "github-models",
    "friendliai": "friendli",
    "meta_llama": "llama",
    "vercel_ai_gateway": "vercel",
}
"""Providers of Modelway by LiteLLM's prefix of model names."""
GUESSES = {
    "openai": "gpt-* chatgpt-* o1* o3* o4* text-embedding-* tts-* whisper-* dall-e-* gpt-image-* "
    "omni-moderation-* text-moderation-* ft:*",
    "anthropic": "claude-*",
    "vertex_ai": "gemini-*",
    "cohere": "command-* embed-english-* embed-multilingual-* rerank-*",
}
"""The prefix of model names that LiteLLM accepts without one."""
MODELS = {
    "azure_ai": "claude-*",
    "vertex_ai": "gemini-* claude-* text-embedding-* textembedding-* multimodalembedding* imagen-*",
    "vertex_ai_beta": "gemini-*",
}
"""The models of a prefix that have the provider's own API; others of it speak another one."""
ROUTES = {
    "bedrock": (
        *("converse/", "invoke/", "converse_like/", "llama/", "deepseek_r1/", "qwen2/", "qwen3/"),
        *("nova/", "nova-2/", "moonshot/", "openai/"),
    ),
    "openai": ("responses/", "chat/completions/"),
    "azure-deployments": ("responses/", "o_series/", "gpt5_series/"),
}
"""Words between prefix and model by which LiteLLM chooses a path."""
SUFFIXES = {
    "azure-claude": "/v1",
    "azure-deployments": "/openai",
    "ollama": "/v1",
    "anthropic": "/v1",
    "gemini": "/v1beta",
}
"""Suffixes that LiteLLM adds to an `api_base`, and that a URL of Modelway must contain."""
WEIGHTS = ("weight", "rpm", "tpm")
STRATEGIES = {
    "simple-shuffle": "weighted",
    "least-busy": "least_busy",
    "latency-based-routing": "fastest",
}
"""Values of `choose` by LiteLLM's `routing_strategy`."""
AWS = {
    "aws_access_key_id": "access_key",
    "aws_secret_access_key": "secret_key",
    "aws_session_token": "session_token",
    "aws_profile_name": "profile",
}
"""Members of the credential `aws` by LiteLLM's parameters."""
HARMLESS = frozenset(
    {"id", "mode", "base_model", "description", "custom_llm_provider", "created_at", "updated_at"}
    | {"use_in_pass_through", "health_check_timeout", "db_model", "input_cost_per_token"}
    | {"output_cost_per_token", "set_verbose", "json_logs", "telemetry", "store_model_in_db"}
    | {"detailed_debug", "proxy_batch_write_at", "routing_strategy_args", "drop_params"}
)
"""Keys that are not noted: they have no effect here, or are read elsewhere."""
REASONS = {
    "database_url": "its tables are LiteLLM's; write stores.records for a database of Modelway",
    "success_callback": "logs, metrics and traces are set under telemetry",
    "failure_callback": "logs, metrics and traces are set under telemetry",
    "callbacks": "logs, metrics and traces are set under telemetry",
    "cache": "responses are not cached",
    "cache_params": "responses are not cached",
    "redis_host": "write stores.counters: redis://... for limits that gateways share",
    "routing_strategy": "targets are chosen by weight, without those that fail",
    "context_window_fallbacks": "fallbacks are used when a target fails, not for long requests",
    "content_policy_fallbacks": "fallbacks are used when a target fails",
    "guardrails": "guardrails are not part of Modelway; `deny` refuses by values of a request",
    "pass_through_endpoints": "write an OpenAPI document of it, and a route with `to`",
    "mock_response": "`modelway mock` answers in place of an upstream",
    "environment_variables": "set them in the environment of the gateway",
    "alerting": "alert on the metrics of telemetry",
    "rpm": "it weighs the targets; write a rate_limit, or `rate` of a token, as a limit",
    "max_parallel_requests": "write max_in_flight at upstreams",
    **dict.fromkeys(AWS, "a credential is a profile, or both keys without one"),
    "global_max_parallel_requests": "write a policy, concurrency: {requests: ..., by: all}",
    "priority_reservation": "write `priority` at tokens or routes, and max_in_flight at upstreams",
    "default_priority": "write `priority` at tokens or routes, and max_in_flight at upstreams",
    "tpm": "it weighs the targets; write a token_budget as a limit",
}
GUARDS = frozenset(
    {"rpm", "tpm", "max_parallel_requests", "global_max_parallel_requests", "max_budget"}
    | {"budget_duration", "guardrails", "allowed_ips", "max_request_size_mb", "access_groups"}
    | {"enforced_params", "custom_auth", "provider_budget_config"}
)
"""Keys that limit or refuse requests."""
OTHERWISE = "there is no counterpart"


def reason_for(key: str, models: str = "all") -> str:
    """The reason why a key is not imported; for a guard with the models that lack it."""
    name = "redis_host" if key.startswith("redis_") else key
    reason = REASONS.get(name, OTHERWISE)
    return f"WARNING, models without this guard: {models}: {reason}" if key in GUARDS else reason


def reference(text: str) -> str:
    """`os.environ/VAR` as `${VAR}`."""
    if text.startswith("os.environ/"):
        return f"${{{text.removeprefix('os.environ/').strip()}}}"
    return text.replace("${", "$${")
