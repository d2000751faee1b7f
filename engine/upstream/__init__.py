"""Whom to ask and how often: select the model, choose a target, attempt, retry, fail over.
Read `forward.py` first. `client/` is the HTTP/1.1 client.
"""
