#!/usr/bin/env bash
# parse-prometheus-text-format 1.1.1 (npm): of histograms and summaries with labels the sums, the counts and all series
# but the last one are lost; comments are metrics, and a `HELP` without a text is an error.
#
# The buckets of a histogram may have labels beside `le`, each set of which is a series with a `_sum` and a `_count` of
# its own. A line whose first character is `#` is a comment, unless HELP or TYPE follows; the text of HELP is what is
# left of the line (Prometheus documentation, "Exposition formats": "Histograms and summaries", "Comments, help text,
# and type information").
# - Of `latency` of the models a and b one set of buckets is left, that of b, and it does not say so: no labels, no
#   sum, no count, so that no mean can be had. Without labels it has both.
# - Of a summary with two series the same is left.
# - `#note 1` is a metric named "#note". `# HELP requests`, without a text, throws for all of the page.
# prometheus_client 0.26.0 (Python) reads all of them. A dashboard shows the times of one model as those of the
# service.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet prometheus-client==0.26.0
cd "$folder"
npm install --silent --no-audit --no-fund parse-prometheus-text-format@1.1.1
cat >parse.mjs <<'JAVASCRIPT'
import parse from "parse-prometheus-text-format";
const [, , pages] = process.argv;
const seen = JSON.parse(pages).map((page) => {
  try {
    return parse(page);
  } catch (error) {
    return error.message;
  }
});
console.log(JSON.stringify(seen));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess

from prometheus_client.parser import text_string_to_metric_families


def series(labels: str, scale: int) -> str:
    """The lines of one histogram, whose labels end with a comma if there are any."""
    own = f"{{{labels}}}" if labels else ""
    buckets = f'latency_bucket{{{labels}le="1"}} {scale}\nlatency_bucket{{{labels}le="+Inf"}} {2 * scale}\n'
    return f"{buckets}latency_sum{own} {3 * scale}\nlatency_count{own} {2 * scale}\n"


TYPE = "# TYPE latency histogram\n"
PAGES = [
    TYPE + series("", 1),
    TYPE + series('model="a",', 1) + series('model="b",', 10),
    "#note 1\nrequests 7\n",
    "# HELP requests\nrequests 7\n",
    '# TYPE wait summary\nwait{model="a",quantile="0.5"} 1\nwait_sum{model="a"} 3\nwait_count{model="a"} 2\n'
    'wait{model="b",quantile="0.5"} 10\nwait_sum{model="b"} 30\nwait_count{model="b"} 20\n',
]
plain, labelled, comment, text, summary = json.loads(
    subprocess.check_output(["node", "parse.mjs", json.dumps(PAGES)], text=True, stderr=subprocess.DEVNULL)
)
print("without labels:", plain[0]["metrics"])
print("models a and b:", labelled[0]["metrics"])
print("a summary:", summary[0]["metrics"])
print("a comment:", [metric["name"] for metric in comment])
print("HELP without a text:", text)
assert plain[0]["metrics"] == [{"buckets": {"1": "1", "+Inf": "2"}, "sum": "3", "count": "2"}]
assert labelled[0]["metrics"] == [{"buckets": {"1": "10", "+Inf": "20"}}]
assert summary[0]["metrics"] == [{"quantiles": {"0.5": "10"}}]
assert [metric["name"] for metric in comment] == ["#note", "requests"]
assert text == "Encountered invalid line: # HELP requests"

families = [list(text_string_to_metric_families(page)) for page in PAGES]
sums = {each.labels["model"]: each.value for each in families[1][0].samples if each.name == "latency_sum"}
print("prometheus_client, sums:", sums)
assert sums == {"a": 3, "b": 30}
assert [[each.name for each in page] for page in families[2:4]] == [["requests"], ["requests"]]
PYTHON
