"""Configs of other gateways and OpenAPI documents as gateway.yaml. One source is one file or folder
in `sources/`; each fills an `imported_config.py: ImportedConfig`, which comes first.
"""
