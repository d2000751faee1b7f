"""What requests, answers and streams of responses have in common: usage, thoughts, citations and
the members of an answer's texts."""

from __future__ import annotations

from engine.translations.neutral.content import Citation, Json, Reasoning, Signature
from engine.translations.neutral.signatures import seal, unseal
from engine.translations.openai_answer_fields import read_citation, write_citation
from engine.translations.responses.answer_shapes import Annotation
from engine.values.usage import Usage

NAME = "responses"
PREFIX = "resp_"


def write_counts(usage: Usage) -> Json:
    """`usage`."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cached,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def read_signature(content: str, item_id: str) -> Signature | None:
    """The signature of an item of reasoning: its encrypted content, with its id, which the vendor
    wants back as well; None without content."""
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


def thoughts(summary: list[str], content: list[str]) -> str:
    """The summary of an item of reasoning, or its text where it has no summary."""
    return "\n\n".join(summary) or "".join(content)


def summary_of(block: Reasoning) -> list[Json]:
    """`summary` of an item of reasoning."""
    return [{"type": "summary_text", "text": block.text}] if block.text else []


def read_citations(annotations: list[Annotation] | None) -> list[Citation]:
    """The web pages in the annotations of a text."""
    return [read_citation(each) for each in annotations or () if each.type == "url_citation"]


def write_annotation(citation: Citation, length: int) -> Json:
    """The annotation of a text of so many characters."""
    return {"type": "url_citation", **write_citation(citation, 0, length)}
