"""Recorded answers in the source distributions of LangChain's packages for OpenAI and Anthropic:
a corpus that pip downloads.

It stays in the folder MODELWAY_CASSETTES, by default in the user's cache. The cassettes (of vcrpy)
hide addresses and headers, so that an answer is known by its bytes.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from tests.support.recorded_answers import Corpus, RecordedAnswer, recorded_answer
from tests.support.sayings import Json

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
FOLDER = Path(os.environ.get("MODELWAY_CASSETTES") or _CACHE / "modelway" / "cassettes")
TIMEOUT = 300
"""Seconds for a download."""


@dataclass(frozen=True)
class SourceDistribution:
    """A file of PyPI."""

    name: str
    version: str
    sha256: str

    @property
    def file(self) -> Path:
        """Where it is kept."""
        return FOLDER / f"{self.name.replace('-', '_')}-{self.version}.tar.gz"

    def download(self) -> None:
        """By pip, which compares the digest. Raises CalledProcessError."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
            needed = Path(folder) / "requirements.txt"
            needed.write_text(f"{self.name}=={self.version} --hash=sha256:{self.sha256}\n")
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            options = ["--no-binary", ":all:", "--require-hashes", "--dest", folder]
            subprocess.run(
                [*pip, *options, "--requirement", needed],
                check=True,
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
            )
            (Path(folder) / self.file.name).replace(self.file)


SOURCES = (
    SourceDistribution(
        "langchain-openai",
        "1.7.4",
        "8fd90e41588526d990f32262447adf8e130d7ce28ed66cefa315e64cc9dd12ce",
    ),
    SourceDistribution(
        "langchain-anthropic",
        "1.7.10",
        "72869686960b3d6665f99e7c91c9f6dd4a1d9ccf73d23edd8702eb603cc2e498",
    ),
)


@cache
def missing() -> str:
    """Download what is not here; why it cannot be, "" if it is."""
    for source in SOURCES:
        if not source.file.is_file():
            try:
                source.download()
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                return f"pip cannot download {source.name} {source.version}: {error.stderr}"
    return ""


@cache
def _by_language() -> dict[str, list[RecordedAnswer]]:
    found: dict[str, list[RecordedAnswer]] = {}
    for source in SOURCES:
        for name, cassette in _cassettes(source):
            for number, response in enumerate(cassette["responses"]):
                if answer := _answer(f"{name} {number}", response):
                    found.setdefault(answer.language, []).append(answer)
    return found


def _cassettes(source: SourceDistribution) -> Iterator[tuple[str, Json]]:
    with tarfile.open(source.file) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".yaml.gz") else None
            if file is not None:
                text = gzip.decompress(file.read())
                name = f"{source.name} {Path(member.name).name.removesuffix('.yaml.gz')}"
                yield name, yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _answer(name: str, response: Json) -> RecordedAnswer | None:
    """The answer of a response, None for one that is no answer to a chat."""
    body = response["body"]["string"]
    body = body.encode() if isinstance(body, str) else body
    is_stream = body.lstrip().startswith((b"event:", b"data:"))
    first = body.partition(b"data:")[2].partition(b"\n")[0] if is_stream else body
    if response["status"]["code"] >= 300 or not first.lstrip().startswith(b"{"):
        return None
    language = _language(json.loads(first))
    return recorded_answer(name, language, body, is_stream=is_stream) if language else None


def _language(document: Json) -> str:
    """The language of an answer, or of the first event of a stream; "" for anything else."""
    kind = document.get("object") or document.get("type") or ""
    names = {
        "chat.completion": "chat_completions",
        "chat.completion.chunk": "chat_completions",
        "message": "messages",
        "message_start": "messages",
        "response": "responses",
        "response.created": "responses",
    }
    return names.get(kind, "")


CASSETTES = Corpus("langchain", lambda language: _by_language().get(language, []), missing)
