"""A guard: replaces addresses of e-mail and numbers of cards and accounts, as Presidio would, and
blocks a sentence that should not reach a model. It needs Python alone: python server.py 9100

openapi/guard.yaml describes what it is asked. With GUARD_TOKEN it wants that as a bearer token.
"""

import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATTERNS = {
    "EMAIL_ADDRESS": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w"),
    "IBAN_CODE": re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b"),
    "CREDIT_CARD": re.compile(r"\b\d(?:[ -]?\d){12,15}\b"),
}
FORBIDDEN = re.compile(r"ignore (?:all|your) (?:previous )?instructions", re.IGNORECASE)


def is_card(digits):
    """Whether the check digit of a card is right (Luhn)."""
    numbers = [int(digit) for digit in digits if digit.isdigit()][::-1]
    doubled = [sum(divmod(2 * number, 10)) for number in numbers[1::2]]
    return (sum(numbers[::2]) + sum(doubled)) % 10 == 0


def redact(text):
    """The text with a label in place of what identifies people."""
    for label, pattern in PATTERNS.items():
        wanted = is_card if label == "CREDIT_CARD" else bool
        text = pattern.sub(lambda m, w=wanted, n=label: f"<{n}>" if w(m[0]) else m[0], text)
    return text


def verdict(question):
    texts = question["texts"]
    if question["stage"] == "request" and any(FORBIDDEN.search(part["text"]) for part in texts):
        return {"action": "block", "reason": "prompt injection", "message": "Ask otherwise."}
    changed = [{**part, "text": redact(part["text"])} for part in texts]
    changed = [part for part in changed if part not in texts]
    if changed:
        return {"action": "redact", "reason": f"{len(changed)} texts", "texts": changed}
    return {"action": "pass"}


class Guard(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["content-length"])))
        token = os.environ.get("GUARD_TOKEN")
        if token and self.headers["authorization"] != f"Bearer {token}":
            self.answer(401, {"action": "block"})
        else:
            self.answer(200, verdict(question))

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *values):
        """Log nothing: paths say nothing here."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9100
    ThreadingHTTPServer(("127.0.0.1", port), Guard).serve_forever()
