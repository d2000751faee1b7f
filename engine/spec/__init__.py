"""What OpenAPI documents say, compiled for requests. `document/` reads and repairs the text; the
modules here compile operations, parameters, bodies, security and schemas. Read `spec.py` first.
"""
