#!/usr/bin/env bash
# transformers 5.19.0, `transformers serve`: four answers that differ from OpenAI's API reference, for valid requests.
#
# 1. `POST /v1/responses` without `stream` answers server-sent events. The default of `stream` is false, and
#    openai-python 3.57.0 sends no `stream` unless it is given, so its `responses.create` returns a str.
# 2. A stream with a function call has one more message behind the call, at the `output_index` of the call and with
#    the text of the first message again; the response of `response.completed` does not have it. The
#    `responses.stream` of openai-python raises RuntimeError.
# 3. An answer that `max_output_tokens` cut off has the status "completed", not "incomplete" with `incomplete_details`.
# 4. In Chat Completions the text ends with the stop sequence, which "the returned text will not contain", and
#    `max_completion_tokens`, which took the place of the deprecated `max_tokens`, is ignored but for a warning in the
#    log of the server.
#
# The model is made here: each token has a dimension, the layers add nothing, and so a token decides the next one.
# Behind the "\n" of the chat template it says "Looking", a call of a tool, and the end.
# pip takes torch with its libraries of CUDA (some GB) from PyPI; a CPU build of the same version does as well.
set -euo pipefail
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null || true; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 'transformers[serving]==5.19.0' openai==3.57.0 requests
cd "$folder"
export HF_HUB_OFFLINE=1
venv/bin/python - <<'PYTHON'
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from transformers.utils.logging import disable_progress_bar

CALL = '{"name": "look", "arguments": {"city": "Oslo"}}'
SAID = ["\u010a", "Looking", "<tool_call>", CALL, "</tool_call>", "<|im_end|>"]  # the first is the newline of ByteLevel
letters = sorted(pre_tokenizers.ByteLevel.alphabet())
tokenizer = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.add_tokens([AddedToken(word, normalized=False) for word in SAID[1:-1]])
tokenizer.add_special_tokens(["<|im_start|>", SAID[-1]])
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=SAID[-1], pad_token=SAID[-1])
fast.chat_template = (
    "{% for each in messages %}<|im_start|>{{ each.role }}\n{{ each.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
fast.save_pretrained("tiny")

disable_progress_bar()
size, end = len(fast) + -len(fast) % 8, fast.eos_token_id
shape = {"hidden_size": size, "intermediate_size": 16, "num_hidden_layers": 2, "vocab_size": size}
heads = {"num_attention_heads": 4, "num_key_value_heads": 4, "max_position_embeddings": 2048}
ends = {"eos_token_id": end, "pad_token_id": end, "bos_token_id": None, "tie_word_embeddings": False}
model = Qwen2ForCausalLM(Qwen2Config(**shape, **heads, **ends))
numbers = fast.convert_tokens_to_ids(SAID)
with torch.no_grad():
    model.model.embed_tokens.weight.copy_(torch.eye(size))
    model.lm_head.weight.zero_()
    for token, following in zip(numbers, numbers[1:]):
        model.lm_head.weight[following, token] = 1.0
    for layer in model.model.layers:
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
model.save_pretrained("tiny")
PYTHON
PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export PORT
venv/bin/transformers serve tiny --device cpu --host 127.0.0.1 --port "$PORT" >log 2>&1 &
server=$!
venv/bin/python - <<'PYTHON'
import os
import time
import urllib.request

from openai import OpenAI

URL = f"http://127.0.0.1:{os.environ['PORT']}"
client = OpenAI(base_url=f"{URL}/v1", api_key="none", max_retries=0)
for _ in range(400):
    try:
        urllib.request.urlopen(f"{URL}/health").close()
        break
    except OSError:
        time.sleep(1)

city = {"type": "object", "properties": {"city": {"type": "string"}}}
asked = {"model": "tiny", "input": "Hello", "tools": [{"type": "function", "name": "look", "parameters": city}]}

bare = client.responses.create(**asked)
print("1. without stream:", type(bare).__name__, bare[:30])
assert isinstance(bare, str) and bare.startswith("data: ")

events = list(client.responses.create(**asked, stream=True))
done = [event for event in events if event.type == "response.output_item.done"]
items = [(event.output_index, event.item.type) for event in done]
texts = [event.item.content[0].text for event in done if event.item.type == "message"]
final = [item.type for item in events[-1].response.output]
try:
    with client.responses.stream(**asked) as stream:
        stream.get_final_response()
    raised = ""
except RuntimeError as error:
    raised = str(error)
print("2. items:", items, "| texts:", texts, "| in the end:", final, "| openai-python:", raised)
assert items == [(0, "message"), (1, "function_call"), (1, "message")] and texts == ["Looking", "Looking"]
assert final == ["message", "function_call"] and "output index 1" in raised

cut = client.responses.create(**asked, max_output_tokens=1, stream=False)
print("3. cut off:", cut.output_text, cut.usage.output_tokens, cut.status, cut.incomplete_details)
assert (cut.usage.output_tokens, cut.status, cut.incomplete_details) == (1, "completed", None)

seen = []
for option in ({"stop": "ing"}, {"max_tokens": 1}, {"max_completion_tokens": 1}):
    messages = [{"role": "user", "content": "Hello"}]
    answer = client.chat.completions.create(model="tiny", messages=messages, **option)
    choice = answer.choices[0]
    seen.append((choice.message.content, choice.finish_reason, answer.usage.completion_tokens))
    print("4.", option, *seen[-1])
assert seen == [("Looking", "stop", 1), ("Looking", "length", 1), ("Looking", "tool_calls", 5)]
PYTHON
