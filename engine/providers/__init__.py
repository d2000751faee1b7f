"""Providers of models as data: ONE FILE HERE = ONE PROVIDER, `NAME.yaml`, and no code.

`schemas/provider.schema.json` describes the form; `engine/config/providers.py` reads the files.
Models, limits and prices are mostly from models.dev (MIT licence, Copyright 2025 models.dev): each
file names its sources and their dates.
"""
