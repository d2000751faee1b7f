#!/usr/bin/env bash
# node-wav 0.0.2 and wav-decoder 1.3.0 (npm): a WAV file with a chunk of odd size, or in the extensible format, cannot be
# read.
#
# A chunk whose data is of odd size has one byte of padding behind it, which its size does not count (wavefilegem.com, "How
# WAVE files work"). Both go on one byte too early: TypeError and RangeError. Notes and titles that a program wrote
# before the sound are such chunks. 16-bit PCM may be written as WAVE_FORMAT_EXTENSIBLE (0xFFFE) with the subformat PCM:
# both refuse it as a format that they do not know.
# music-metadata 12.1.0 and wavefile 11.0.0 read both files. A speech service in Node.js that counts the
# seconds with them fails for an upload that others transcribe.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund node-wav@0.0.2 wav-decoder@1.3.0 music-metadata@12.1.0 wavefile@11.0.0
cat >read.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { parseBuffer } from "music-metadata";
import wav from "node-wav";
import decoder from "wav-decoder";
import wavefile from "wavefile";

function chunk(id, data) {
  const head = Buffer.alloc(8);
  head.write(id, "latin1");
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}
function format(tag, rest) {
  const data = Buffer.alloc(16);
  [tag, 1].forEach((value, index) => data.writeUInt16LE(value, 2 * index));
  [8000, 16000].forEach((value, index) => data.writeUInt32LE(value, 4 + 4 * index));
  [2, 16].forEach((value, index) => data.writeUInt16LE(value, 12 + 2 * index));
  return chunk("fmt ", Buffer.concat([data, rest]));
}
const sound = chunk("data", Buffer.alloc(16000));
const pcm = format(1, Buffer.alloc(0));
// The size of what follows, the bits that are valid, the mask of the speakers, and KSDATAFORMAT_SUBTYPE_PCM.
const extensible = format(0xfffe, Buffer.from("160010000400000001000000000010008000" + "00aa00389b71", "hex"));
const files = {
  plain: [pcm, sound],
  "note of 4 bytes": [pcm, chunk("note", Buffer.from("abcd")), sound],
  "note of 3 bytes": [pcm, chunk("note", Buffer.from("abc")), sound],
  extensible: [extensible, sound],
};
const readers = {
  "node-wav": (file) => wav.decode(file).channelData[0].length / 8000,
  "wav-decoder": (file) => decoder.decode.sync(file).length / 8000,
  wavefile: (file) => new wavefile.WaveFile(file).getSamples().length / 8000,
  "music-metadata": async (file) => (await parseBuffer(file, "audio/wav")).format.duration,
};
const seen = {};
for (const [name, read] of Object.entries(readers)) {
  seen[name] = {};
  for (const [kind, chunks] of Object.entries(files)) {
    const file = chunk("RIFF", Buffer.concat([Buffer.from("WAVE"), ...chunks]));
    try {
      seen[name][kind] = await read(file);
    } catch (error) {
      seen[name][kind] = error.name;
    }
  }
  console.log(name, seen[name]);
}
const seconds = { plain: 1, "note of 4 bytes": 1, "note of 3 bytes": 1, extensible: 1 };
assert.deepStrictEqual(seen.wavefile, seconds);
assert.deepStrictEqual(seen["music-metadata"], seconds);
assert.deepStrictEqual(seen["node-wav"], { ...seconds, "note of 3 bytes": "TypeError", extensible: "TypeError" });
assert.deepStrictEqual(seen["wav-decoder"], { ...seconds, "note of 3 bytes": "RangeError", extensible: "TypeError" });
JAVASCRIPT
node read.mjs
