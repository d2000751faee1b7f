"""The fixed steps of a request, one file each. The optional ones are in `policies/`; their order is
in `app/routes/route_handler.py`. Read `authenticate.py` first, the shape of all of them.
"""
