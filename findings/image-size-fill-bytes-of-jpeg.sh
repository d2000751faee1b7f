#!/usr/bin/env bash
# image-size 2.1.0 (npm): a JPEG picture with a fill byte before a marker has no size: TypeError.
#
# Any marker may have fill bytes before it, which are 0xFF like its own first byte (ITU-T T.81, B.1.1.2). Here is one
# before the marker of the first segment, or of the frame, which has the width and the height. image-size takes it for the
# end of the segments and says that the file is corrupt. probe-image-size 7.5.0 (npm), imagesize 2.0.1 and Pillow
# 13.0.0 (Python) read the size. Tokens and prices of a picture are counted by its size, so the request cannot be priced.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pillow==13.0.0 imagesize==2.0.1
cd "$folder"
npm install --silent --no-audit --no-fund image-size@2.1.0 probe-image-size@7.5.0
cat >size.mjs <<'JAVASCRIPT'
import { readFileSync } from "node:fs";
import { imageSize } from "image-size";
import probe from "probe-image-size";
const data = readFileSync(process.argv[2]);
const seen = {};
for (const [name, read] of Object.entries({ "image-size": imageSize, "probe-image-size": probe.sync })) {
  try {
    const { width, height } = read(data);
    seen[name] = [width, height];
  } catch (error) {
    seen[name] = `${error.name}: ${error.message}`;
  }
}
console.log(JSON.stringify(seen));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import io
import json
import subprocess

import imagesize
from PIL import Image

written = io.BytesIO()
Image.new("RGB", (64, 48)).save(written, "JPEG")
plain = written.getvalue()
frame = plain.index(b"\xff\xc0")
PICTURES = {
    "plain": plain,
    "first segment": plain[:2] + b"\xff" + plain[2:],
    "frame": plain[:frame] + b"\xff" + plain[frame:],
}
for name, data in PICTURES.items():
    with open("picture.jpg", "wb") as file:
        file.write(data)
    picture = Image.open("picture.jpg")
    picture.load()
    seen = json.loads(subprocess.check_output(["node", "size.mjs", "picture.jpg"], text=True))
    print(name, seen, "imagesize:", imagesize.get("picture.jpg"), "Pillow:", picture.size)
    assert imagesize.get("picture.jpg") == picture.size == tuple(seen["probe-image-size"]) == (64, 48)
    if name == "plain":
        assert seen["image-size"] == [64, 48]
    else:
        assert seen["image-size"] == "TypeError: Corrupt JPG, exceeded buffer limits", seen
PYTHON
