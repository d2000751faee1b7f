"""The test bed of a fleet: several gateways, stores and model servers, and faults in them.

python -m trials.fleet list | NAME... | all

Read `bed.py` first. ONE FAULT = ONE FILE in `faults/`, found by its place, with its law and the
figures that show whether it holds.
"""
