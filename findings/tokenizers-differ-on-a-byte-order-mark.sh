#!/usr/bin/env bash
# gpt-tokenizer 4.0.0 and js-tiktoken 1.0.21 (npm): text with U+FEFF has other tokens than tiktoken 1.0.22 counts.
#
# U+FEFF begins files of Windows, and stands inside texts that were joined from such files. The encodings are split into
# words by patterns with `\s`. Of tiktoken's regular expressions, in Rust, `\s` is White_Space of Unicode, which U+FEFF
# is not; of ECMA-262 it is (12.2, "White Space"). So js-tiktoken splits elsewhere, where the character follows a space.
# gpt-tokenizer has another token for the character itself, even where the split is the same: two in place of one.
# A prompt that is cut or priced by their numbers is off by a token or two for each such file.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund tiktoken@1.0.22 js-tiktoken@1.0.21 gpt-tokenizer@4.0.0
cat >tokens.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { getEncoding } from "js-tiktoken";
import { get_encoding } from "tiktoken";
const [rust, script] = [get_encoding("o200k_base"), getEncoding("o200k_base")];
const counts = {};
for (const text of ["a b", "\ufeffhello world", "a \ufeffb"]) {
  const all = [[...rust.encode(text)], script.encode(text), encode(text)];
  counts[text] = all.map((tokens) => tokens.length);
  console.log(JSON.stringify(text).replace("\ufeff", "\\ufeff"), "tiktoken, js-tiktoken, gpt-tokenizer:", ...all);
}
assert.deepStrictEqual(counts, { "a b": [2, 2, 2], "\ufeffhello world": [3, 3, 4], "a \ufeffb": [3, 4, 5] });
JAVASCRIPT
node tokens.mjs
