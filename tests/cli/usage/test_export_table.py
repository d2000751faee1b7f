"""The formats of exports."""

import io

import pytest

from engine.cli.usage.export_file import WRITERS
from engine.cli.usage.export_table import Column, Kind, decimal_of

COLUMNS = [Column(kind.name.lower(), kind) for kind in Kind]
ROW = ("=x", 2**62, 0.5, False, 1_801_440_000.25, -1)
NOTHING = (None,) * len(Kind)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "csv",
            "text,count,number,flag,time,money\n"
            f"'=x,{2**62},0.5,false,2027-02-01T00:00:00.250000Z,-0.000000001\n,,,,,\n",
        ),
        (
            "json",
            f'{{"text":"=x","count":{2**62},"number":0.5,"flag":false,'
            '"time":"2027-02-01T00:00:00.250000Z","money":"-0.000000001"}\n'
            '{"text":null,"count":null,"number":null,"flag":null,"time":null,"money":null}\n',
        ),
    ],
)
def test_values_of_each_kind(name, text):
    file = io.BytesIO()
    WRITERS[name](file, COLUMNS, [[ROW], [NOTHING]])
    assert file.getvalue().decode() == text


def test_money_is_exact_beyond_the_precision_of_the_context():
    nano = 10**37 + 1
    assert f"{decimal_of(nano):f}".replace(".", "") == str(nano)
