"""The response of a target, up to the caller: the layers of the table in `upstream/__init__.py`.
Read `attempt_result.py` first.
"""
