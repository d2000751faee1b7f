"""Requests for objects of callers: only to where they live, with ids that are sealed again in the
response, and lists that show a caller its own. Read `object_forward.py` first.
"""
