"""Swagger 2.0: a document is converted to OpenAPI 3.0 after it is read, and each part of it keeps
its place in the operator's file. Read `conversion.py` first."""
