"""The second opinion: openapi-core validates the same requests and answers, offline. Read
`compare.py` first, which compares both verdicts. `verdict.py` defines what is compared;
`openapi_core_reader.py` is the only module that imports openapi-core.
"""
