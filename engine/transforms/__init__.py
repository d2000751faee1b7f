"""Edits of requests and responses that gateway.yaml declares under `transform`: compiled once, then
applied. `plan/` checks their places against the documents. Read `transform.py` first."""
