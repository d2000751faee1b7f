"""Requests with large bodies, which workers pass to processes of their own (`../heavy_worker.py`).
Read `pass_requests.py` first.
"""
