"""A language model of 2 MB that runs in any server of Llama models, and whose answers are known.

Its layers add nothing, so that the last token alone decides the next one: it goes on with the
SCRIPTS by the token that its chat template writes last, and ends after anything else. The files are
written here, so that nothing is downloaded and no library is needed.
"""

from __future__ import annotations

import itertools
import json
import struct
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from tests.support.paths import ROOT

TEXT = "Tiny models answer in real servers."
CITY = "Oslo"
"""The argument of its call of the tool `look`."""

ANSWER = {"city": "Rome"}
"""Its answer to a last message with the word JSON."""

SPECIAL = ("<|end|>", "<|turn|>", "<|text|>", "<|call|>", "<|json|>")
MARKS = ("<tool_call>", "</tool_call>")
SCRIPTS = {
    "<|text|>": ["Tiny", "Ġmodels", "Ġanswer", "Ġin", "Ġreal", "Ġservers", "."],
    "<|call|>": [MARKS[0], '{"name":"look",', f'"arguments":{{"city":"{CITY}"}}}}', MARKS[1]],
    "<|json|>": ['{"', "city", '":"', "Rome", '"}'],
}
TEMPLATE = """\
{%- if tools %}{{ tools | tojson }}{% endif %}
{%- for message in messages %}<|turn|>{{ message['role'] }}: {{ message['content'] or '' }}
{%- if message.tool_calls %}{{ message.tool_calls | tojson }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}
{%- if tools and messages[-1]['role'] != 'tool' %}<|call|>
{%- elif 'JSON' in (messages[-1]['content'] | string) %}<|json|>
{%- else %}<|text|>{% endif %}{% endif %}"""

RESPONSE_TEMPLATE = {
    "defaults": {"role": "assistant"},
    "start_anchor_pattern": r"<\|(text|call|json)\|>",
    "fields": {
        "tool_calls": {
            "open": MARKS[0],
            "close": MARKS[1],
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": [SPECIAL[0]], "content": "text"},
    },
}
"""What `transformers serve` finds tool calls by."""

SIZE = 320
"""Of the vocabulary and of the hidden state: each token has a dimension. Tokens that `merges` add
share that of a byte."""

WINDOW = 16_384

INNER = 64
LAYER = "model.layers.0."
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": SIZE,
    "hidden_size": SIZE,
    "intermediate_size": INNER,
    "num_hidden_layers": 1,
    "num_attention_heads": 5,
    "num_key_value_heads": 5,
    "head_dim": 64,
    "hidden_act": "silu",
    "max_position_embeddings": WINDOW,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10_000.0,
    "tie_word_embeddings": False,
    "attention_bias": False,
    "torch_dtype": "float32",
    "bos_token_id": 1,
    "eos_token_id": 0,
    "pad_token_id": 0,
}


Merges = Sequence[tuple[str, str]]
"""Pairs of tokens that become one, as in byte pair encoding, in their order."""


def vocabulary(merges: Merges = ()) -> dict[str, int]:
    """The number of each token: special ones, the 256 bytes as GPT-2 writes them, the pieces of the
    scripts, which no text is cut into, and those of the merges."""
    names = [*SPECIAL, *MARKS, *_byte_names()]
    pieces = [piece for script in SCRIPTS.values() for piece in script]
    names += [piece for piece in pieces if piece not in names]
    names += [""] * (SIZE - len(names))  # so that the scripts' numbers are those without merges
    numbers = {name or f"<|unused {number}|>": number for number, name in enumerate(names)}
    for pair in merges:
        numbers.setdefault("".join(pair), len(numbers))
    return numbers


def english_merges() -> Merges:
    """Merges by which four characters of English are a token, as of models that agents use: trained
    on the text of the manual."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    texts = (file.read_text("utf-8") for file in sorted((ROOT / "docs").rglob("*.md")))
    tokenizer.train_from_iterator(texts, BpeTrainer(vocab_size=4_000, show_progress=False))
    merges: Merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return merges


def _byte_names() -> list[str]:
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return [chr(byte) for byte in shown] + [chr(256 + n) for n in range(len(hidden))]


def weights(count: int = SIZE) -> Iterator[tuple[str, tuple[int, ...], array[float]]]:
    """Each tensor of a model with so many tokens: its name, its shape and its values."""
    identity, successors = _zeros(count, SIZE), _zeros(count, SIZE)
    byte = vocabulary()["a"]
    for token in range(count):
        identity[token * SIZE + (token if token < SIZE else byte)] = 1.0
    for token in range(SIZE):
        successors[token] = 0.1  # what is in no script ends
    numbers = vocabulary()
    for first, script in SCRIPTS.items():
        chain = [numbers[name] for name in (first, *script, SPECIAL[0])]
        for token, successor in itertools.pairwise(chain):
            successors[successor * SIZE + token] = 2.0
    yield "model.embed_tokens.weight", (count, SIZE), identity
    yield "lm_head.weight", (count, SIZE), successors
    for name in ("model.norm", f"{LAYER}input_layernorm", f"{LAYER}post_attention_layernorm"):
        yield f"{name}.weight", (SIZE,), array("f", [1.0] * SIZE)
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        yield f"{LAYER}self_attn.{name}.weight", (SIZE, SIZE), _zeros(SIZE, SIZE)
    for name in ("gate_proj", "up_proj"):
        yield f"{LAYER}mlp.{name}.weight", (INNER, SIZE), _zeros(INNER, SIZE)
    yield f"{LAYER}mlp.down_proj.weight", (SIZE, INNER), _zeros(SIZE, INNER)


def _zeros(rows: int, columns: int) -> array[float]:
    return array("f", bytes(4 * rows * columns))


def write_model(folder: Path, window: int = WINDOW, merges: Merges = ()) -> Path:
    """The folder, with the files of a model of Hugging Face that takes `window` tokens."""
    numbers = vocabulary(merges)
    sizes = {"max_position_embeddings": window, "vocab_size": len(numbers)}
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": SPECIAL[1],
        "eos_token": SPECIAL[0],
        "pad_token": SPECIAL[0],
        "clean_up_tokenization_spaces": False,
        "model_max_length": window,
        "chat_template": TEMPLATE,
        "response_template": RESPONSE_TEMPLATE,
    }
    ends = {"bos_token_id": 1, "eos_token_id": 0, "pad_token_id": 0}
    files: dict[str, Any] = {
        "config.json": CONFIG | sizes,
        "generation_config.json": ends,
        "tokenizer_config.json": tokenizer,
        "tokenizer.json": _tokenizer(numbers, merges),
    }
    for name, document in files.items():
        (folder / name).write_text(json.dumps(document, indent=1))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    (folder / "model.safetensors").write_bytes(_safetensors(len(numbers)))
    return folder


def _tokenizer(numbers: dict[str, int], merges: Merges) -> dict[str, Any]:
    """The file of the `tokenizers` library: one token for a byte, the merges and the special
    ones."""
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [
        {"id": numbers[name], "content": name, **plain, "special": name in SPECIAL}
        for name in (*SPECIAL, *MARKS)
    ]
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {**bytes_, "use_regex": True},
        "post_processor": None,
        "decoder": {**bytes_, "use_regex": True},
        "model": {"type": "BPE", "vocab": numbers, "merges": [*map(list, merges)]},
    }


def _safetensors(count: int) -> bytes:
    """The format of Hugging Face's `safetensors`: the size of a JSON head, the head, the values."""
    head: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, shape, values in weights(count):
        start, data = len(data), data + values.tobytes()
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, len(data)]}
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data
