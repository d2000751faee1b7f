"""Edits of requests and responses that gateway.yaml declares under `transform`: compiled once, then
applied. What a place is in a document is proved by `plan/`. Read `transform.py` first."""
