"""gateway.yaml as typed values, one module per section. Whether names in it exist is
decided in `plan/`. Read `config.py` first, then `load.py`.
"""
