"""Lists of models at upstreams that speak every dialect, or one."""

from types import SimpleNamespace

from engine import dialects
from engine.config.listed_models import ListedModels
from engine.config.model_operation import ModelOperation
from engine.config.models import Model, TargetConfig
from engine.config.operations_by_model import ModelOperations
from engine.edge.answers.visible_models import VisibleModels
from tests.support.upstreams import Client, upstream

OPENAI, ANTHROPIC, GEMINI = (dialects.get(name) for name in ("openai", "anthropic", "gemini"))
SHARED = (ANTHROPIC, GEMINI, OPENAI)
OPERATIONS = (
    ModelOperation("openai.chat", "openai"),
    ModelOperation("openai.embed", "openai"),
    ModelOperation("anthropic.messages", "anthropic"),
    ModelOperation("gemini.generate", "gemini", "/models/{model}:generateContent"),
    ModelOperation("gemini.embed", "gemini", "/models/{model}:embedContent"),
)


def visible_models(*names, **narrowed):
    """Models at an upstream that speaks every dialect; `name=dialect` speaks that one."""
    upstreams = {name: upstream(Client(), name=name, dialect=name) for name in dialects.names()}
    upstreams["any"] = upstream(Client(), name="any", dialect="")
    entries = {}
    for name in (*names, *narrowed):
        to = (TargetConfig(narrowed.get(name, "any"), "", 1.0),)
        entries[name] = Model(name, to, (), name, "me", 5)
    configured = {
        name: SimpleNamespace(provider="", dialect=each.dialect, missing_paths=())
        for name, each in upstreams.items()
    }
    config = SimpleNamespace(models=entries, upstreams=configured)
    operations = ModelOperations(entries, configured, OPERATIONS)
    return VisibleModels(config, operations, ListedModels(config))
