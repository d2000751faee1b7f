"""The ledger in columns of FOCUS 1.2, the format of cost reports (https://focus.finops.org).

Columns that begin with `x_` are of our own, as the format has it. What the ledger does not know is
empty.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from engine.cli.usage.report import spreadsheet_cell
from engine.stores.database.totals import Charge
from engine.values.units import format_nano

COLUMNS = (
    *("BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency"),
    *("BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory", "ChargeClass"),
    *("ChargeDescription", "ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart"),
    *("ConsumedQuantity", "ConsumedUnit", "ContractedCost", "EffectiveCost", "InvoiceIssuerName"),
    *("ListCost", "PricingQuantity", "PricingUnit", "ProviderName", "PublisherName"),
    *("ResourceId", "ResourceName", "ResourceType", "ServiceCategory", "ServiceName", "SkuId"),
    *("SubAccountId", "SubAccountName", "Tags"),
    *("x_Requests", "x_FailedRequests", "x_InputTokens", "x_OutputTokens", "x_CachedTokens"),
)
"""The columns in the order of the file."""
_ACCOUNT = "modelway"


def print_focus(charges: Iterable[Charge]) -> None:
    """Print one line for each charge, in CSV."""
    writer = csv.DictWriter(sys.stdout, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for charge in charges:
        writer.writerow(_row(charge))


def _row(charge: Charge) -> dict[str, str | int]:
    total, usage = charge.total, charge.total.usage
    cost, vendor_cost = (
        format_nano(sum(amounts.values())) for amounts in (total.cost, total.vendor_cost)
    )
    start = datetime.fromtimestamp(charge.day, UTC)
    month = start.replace(day=1)
    token, team, model, upstream = map(
        spreadsheet_cell, (charge.token, charge.team, charge.model, charge.upstream)
    )
    tokens = usage.input + usage.output
    return {
        **dict.fromkeys(("BilledCost", "ContractedCost", "EffectiveCost"), cost),
        "ListCost": vendor_cost,
        **dict.fromkeys(("BillingAccountId", "BillingAccountName"), _ACCOUNT),
        "BillingCurrency": charge.currency,
        "BillingPeriodStart": _time(month),
        "BillingPeriodEnd": _time((month + timedelta(days=32)).replace(day=1)),
        "ChargeCategory": "Usage",
        "ChargeDescription": f"Requests for {model or 'no model'}",
        "ChargeFrequency": "Usage-Based",
        "ChargePeriodStart": _time(start),
        "ChargePeriodEnd": _time(start + timedelta(days=1)),
        **dict.fromkeys(("ConsumedQuantity", "PricingQuantity"), tokens),
        **dict.fromkeys(("ConsumedUnit", "PricingUnit"), "Tokens"),
        **dict.fromkeys(("InvoiceIssuerName", "ProviderName", "PublisherName"), upstream),
        **dict.fromkeys(("ResourceId", "ResourceName"), token),
        "ResourceType": "Token",
        "ServiceCategory": "AI and Machine Learning",
        **dict.fromkeys(("ServiceName", "SkuId"), model),
        **dict.fromkeys(("SubAccountId", "SubAccountName"), team),
        "Tags": charge.tags or "{}",
        "x_Requests": total.requests,
        "x_FailedRequests": total.failed,
        "x_InputTokens": usage.input,
        "x_OutputTokens": usage.output,
        "x_CachedTokens": usage.cached,
    }


def _time(moment: datetime) -> str:
    """A time as FOCUS writes it: ISO 8601, UTC."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
