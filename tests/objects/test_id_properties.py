"""The shipped documents declare every id that a request may have: a property or parameter whose
name says that it is one is opened by its operation, or has a reason to stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from typing import Any

import orjson
import pytest

from engine.dialects.gemini.proto_json import json_name
from engine.objects.facts_reader import read_facts
from engine.objects.id_opener import IdOpener
from engine.objects.id_places import ANY, ANY_DEPTH, IdPlace
from engine.objects.request_ids import RequestIds
from engine.objects.sealed_ids import Sealer
from tests.support import yaml_text
from tests.support.paths import ROOT

NAMES = sorted(
    path.stem
    for path in (ROOT / "openapi").glob("*.yaml")
    if path.stem.partition("-")[0] in ("openai", "anthropic", "gemini")
)
IS_ID = re.compile(
    r"(.*_)?ids?|.+Ids?|.*_file|.*fileUri|.*StoreNames|cachedContent|container|conversation"
)
REASONS = {
    "*call_id": "of a call in the same conversation",
    "*/tool_calls/[*]/id": "of a call in the same conversation",
    "*/caller/*": "of a call in the same conversation",
    "*tool_use_id": "of a call in the same conversation",
    "*/content/[*]/id": "of a call in the same conversation",
    "system/[*]/id": "of a call in the same conversation",
    "*_safety_checks/[*]/id": "of a check in the same conversation",
    "*/approval_request_id": "of a question in the same conversation",
    "*/*unction*/id": "of a call in the same conversation",
    "*/*ool*/id": "of a call in the same conversation",
    "*/*ode*/id": "of a call in the same conversation",
    "*/tab_id": "of a browser's tab",
    "*/download_id": "of a browser's download",
    "input/[*]/id": "an item's: whoever made the answer has it, and its conversation is needed",
    "messages/[*]/audio/id": "random, and only whoever made the answer has it",
    "messages/[*]/*id": "a message of a thread that is made here has none",
    "prompt/id": "made in the vendor's console",
    "workflow/id": "made in the vendor's console",
    "agent/id": "an agent that is written here has none",
    "*/connector_id": "a name of the vendor's",
    "*/tunnel_id": "the vendor's administration",
    "*project_id*": "the vendor's administration",
    "api_key_id": "the vendor's administration",
    "service_account_id": "the vendor's administration",
    "*workspace_id": "the vendor's administration",
    "*user_profile_id": "the vendor's administration",
    "metadata/user_id": "the caller's own",
    "*custom_id": "the caller's own",
    "*continuation_id": "the caller's own",
    "tracing/group_id": "the caller's own",
    "event_id": "the caller's own",
    "requests/[*]/params/container": "each request of a batch is opened as if it were alone",
    "last_event_id": "a number of an event of what the path names",
    "*/comparison_response_id": "says only whether a prefix was the same",
    "id": "the name of what is made",
    "listModels *_id": "a name of a model",
}
"""Why ids are not opened, by patterns of places, or of an operation and a place."""


def undeclared(name: str) -> Iterator[str]:
    """Operation and place of each id of a document that nothing opens."""
    document = yaml_text.load((ROOT / "openapi" / f"{name}.yaml").read_text())
    tree = Tree(document)
    for item in document["paths"].values():
        for operation in (item[verb] for verb in item.keys() & {"get", "post", "put", "patch"}):
            facts, _ = read_facts(operation.get("x-modelway-objects", {}))
            assert facts is not None
            lists = facts.lists
            cursors = () if lists is None else (lists.forward, lists.backward)
            in_query = {p.steps[0] for p in facts.names if p.location == "query"}.union(cursors)
            places = [p for p in facts.names if p.location == "body"]
            ids = [
                (parameter["name"],)
                for parameter in map(tree.resolved, operation.get("parameters", ()))
                if parameter["in"] == "query" and parameter["name"] not in in_query
            ]
            body = tree.resolved(operation.get("requestBody", {}))
            for content in body.get("content", {}).values():
                found = tree.properties(content.get("schema", {}), (), ())
                ids += [path for path in found if not any(opens(p, path) for p in places)]
            for path in sorted(set(ids)):
                place = "/".join(path)
                full = f"{operation['operationId']} {place}"
                is_reasoned = any(fnmatch(text, at) for at in REASONS for text in (place, full))
                if IS_ID.fullmatch(path[-1]) and not is_reasoned:
                    yield full


class Tree:
    """The schemas of a document."""

    def __init__(self, document: Any) -> None:
        self._document = document

    def resolved(self, node: Any) -> Any:
        while isinstance(node, dict) and "$ref" in node:
            steps = node["$ref"].removeprefix("#/").split("/")
            node = self._document
            for step in steps:
                node = node[step.replace("~1", "/").replace("~0", "~")]
        return node

    def properties(
        self, schema: Any, path: tuple[str, ...], above: tuple[int, ...]
    ) -> Iterator[tuple[str, ...]]:
        """The path of each property, at any depth; of a schema within itself once."""
        node = self.resolved(schema)
        if not isinstance(node, dict) or id(node) in above or len(path) > 9:
            return
        above = (*above, id(node))
        for word in ("allOf", "anyOf", "oneOf"):
            for each in node.get(word, ()):
                yield from self.properties(each, path, above)
        for name, each in (node.get("properties") or {}).items():
            yield (*path, name)
            yield from self.properties(each, (*path, name), above)
        if "items" in node:
            yield from self.properties(node["items"], (*path, ANY), above)


def opens(place: IdPlace, path: tuple[str, ...]) -> bool:
    """Whether a place has what is at a path, or in a list there, in either spelling."""
    ends = (path, (*path, ANY), (*path[:-1], ANY, path[-1]))
    return any(_matches(_spelled(place.steps), _spelled(end)) for end in ends)


@cache
def _spelled(steps: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(json_name(step) for step in steps)


def _matches(steps: tuple[str, ...], path: tuple[str, ...]) -> bool:
    if not steps or not path:
        return not steps and not path
    if steps[0] == ANY_DEPTH:
        return any(_matches(steps[1:], path[at:]) for at in range(len(path) + 1))
    return steps[0] in (ANY, path[0]) and _matches(steps[1:], path[1:])


@pytest.mark.parametrize("name", NAMES)
def test_every_id_of_a_request_is_opened_or_has_a_reason(name: str) -> None:
    assert list(undeclared(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_json_with_an_id_has_a_sign_of_it(name: str) -> None:
    document = yaml_text.load((ROOT / "openapi" / f"{name}.yaml").read_text())
    opener = IdOpener(Sealer(["a key for tests " * 4], []), everybody=False, passes=True)
    for item in document["paths"].values():
        for operation in (item[verb] for verb in item.keys() & {"post", "put", "patch"}):
            facts, _ = read_facts(operation.get("x-modelway-objects", {}))
            assert facts is not None
            for spelling in (None, json_name):
                signs = RequestIds(facts, opener, lambda exchange: None, spelling).signs
                pointers = [place.steps for place in facts.names]
                pointers += [facts.when.at] if facts.when is not None else []
                for steps in pointers if signs else ():
                    names = (step for step in steps if step not in (ANY, ANY_DEPTH))
                    text = orjson.dumps([{name: 1} for name in names]).lower()
                    assert any(sign in text for sign in signs), steps
