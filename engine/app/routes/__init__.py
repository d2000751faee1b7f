"""The handlers of routes. `route_handler.py` lists the stages of a route, `last_handler.py` chooses
what answers, and `worker_parts.py` makes the parts that all routes of a worker share. The stages of
batches and stored objects have modules of their own, and so has a call from inside
(`internal_call.py`).
"""
