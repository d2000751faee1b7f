"""What requests, answers and streams of responses have in common: thoughts, citations and the
members of an answer's texts."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.content import Citation, Reasoning, Signature
from engine.translations.neutral.members import Members
from engine.translations.neutral.signatures import seal, unseal
from engine.translations.openai_answer_fields import UsageNames, read_citation, write_citation

NAME = "responses"
PREFIX = "resp_"
USAGE = UsageNames("input_tokens", "output_tokens", details_required=True)

Json = dict[str, Any]


def read_signature(item: Members, item_id: str) -> Signature | None:
    """The signature of an item of reasoning: its encrypted content, with its id, which the vendor
    wants back as well."""
    content = item.text("encrypted_content") or ""
    signature = unseal(content, NAME) if content else None
    if signature is None or signature.language != NAME:
        return signature
    return Signature(NAME, f"{item_id} {content}")


def signed_members(signature: Signature) -> Json:
    """The members of a request's item of reasoning that say its signature, which must be of this
    language."""
    item_id, _, content = signature.value.rpartition(" ")
    return {**({"id": item_id} if item_id else {}), "encrypted_content": content}


def encrypted_content(signature: Signature) -> str:
    """`encrypted_content` of an answer's item of reasoning, for any signature."""
    if signature.language == NAME:
        return signature.value.rpartition(" ")[2]
    return seal(signature, NAME)


def read_thoughts(item: Members) -> str:
    """The summary of an item of reasoning, or its text where it has no summary."""
    summary = [each.text("text") or "" for each in item.objects("summary")]
    content = [each.text("text") or "" for each in item.objects("content")]
    return "\n\n".join(summary) or "".join(content)


def summary_of(block: Reasoning) -> list[Json]:
    """`summary` of an item of reasoning."""
    return [{"type": "summary_text", "text": block.text}] if block.text else []


def read_citations(part: Members) -> list[Citation]:
    """The web pages in the annotations of a text."""
    return [
        read_citation(annotation)
        for annotation in part.objects("annotations")
        if annotation.text("type") == "url_citation"
    ]


def write_annotation(citation: Citation, length: int) -> Json:
    """The annotation of a text of so many characters."""
    return {"type": "url_citation", **write_citation(citation, 0, length)}
