"""The request for a target, built of the caller's. Read `build_request.py` first."""
