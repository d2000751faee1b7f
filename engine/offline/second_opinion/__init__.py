"""The second opinion: what openapi-core says of the same requests and answers, offline.

`compare.py` holds both readings side by side; read it first. `verdict.py` says what is compared,
`openapi_core_reader.py` is the only module that imports openapi-core.
"""
