"""What gateway.yaml says, as typed values; one module per section. Whether names in it exist is
decided in `plan/`. Read `load.py` first, then `model.py`.
"""
