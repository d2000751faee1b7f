"""Which upstream to send a request to, and how often: select the model, choose a target, build the
request, attempt, retry, fail over, relay the response. Read `forward.py` first. `client/` is the
HTTP/1.1 client.
"""
