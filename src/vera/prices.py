"""What tokens cost: prices from settings, and an amount of money in words. Whole numbers throughout."""

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import msgspec
from pydantic import ValidationError

from vera.config.settings import BudgetSettings
from vera.usage import RunUsage, Tokens, payer

UNIT = 10**12
"""Parts of one unit of money: a price of a millionth for a million tokens is one part for a token."""


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """What one token of a model costs, in parts of UNIT."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0

    def of(self, tokens: Tokens) -> int:
        """What these tokens cost."""
        read_anew = tokens.prompt - tokens.cached
        return read_anew * self.prompt + tokens.cached * self.cached + tokens.completion * self.completion

    @property
    def dearest_prompt(self) -> int:
        """The price of a prompt token, whether it will be in the cache or not."""
        return max(self.prompt, self.cached)


class PriceList(msgspec.Struct, frozen=True, kw_only=True):
    """The prices of the models of a run: who answers, who verifies, who chooses among candidates."""

    agent: Prices = Prices()
    verifier: Prices = Prices()
    selector: Prices = Prices()

    def of_scope(self, scope: str) -> Prices:
        """The prices of who is asked by a call of that scope (`events.Model.scope`)."""
        return {"verifier": self.verifier, "selector": self.selector}.get(payer(scope), self.agent)

    def of(self, spent: RunUsage) -> int:
        """What was spent on models, in parts of UNIT."""
        of_agent, of_verifier = self.agent.of(spent.agent), self.verifier.of(spent.verifier)
        return of_agent + of_verifier + self.selector.of(spent.selector)


def prices_of(settings: BudgetSettings) -> PriceList:
    """The prices in whole numbers; one that is not known counts as nothing."""
    given, paid = settings.input_price, settings.output_price
    cached = _first(settings.cached_price, given)
    asked = _first(settings.verifier_input_price, given)
    read = settings.verifier_cached_price
    if read is None:
        read = cached if settings.verifier_input_price is None else asked
    return PriceList(
        agent=Prices(prompt=per_token(given), cached=per_token(cached), completion=per_token(paid)),
        verifier=Prices(
            prompt=per_token(asked),
            cached=per_token(read),
            completion=per_token(_first(settings.verifier_output_price, paid)),
        ),
        selector=Prices(
            prompt=per_token(_first(settings.selector_input_price, given)),
            cached=per_token(
                _first(settings.selector_cached_price, _first(settings.selector_input_price, cached))
            ),
            completion=per_token(_first(settings.selector_output_price, paid)),
        ),
    )


def price_list(settings: Mapping[str, Any]) -> PriceList | None:
    """The prices in a log's `settings`; None where none is known."""
    try:
        budget = BudgetSettings.model_validate(settings.get("budget"))
    except ValidationError:
        return None
    if budget.input_price is None and budget.output_price is None:
        return None
    return prices_of(budget)


def cost_in_words(settings: Mapping[str, Any], spent: RunUsage) -> str | None:
    """What was spent by the prices in a log's `settings`, so that anyone computes the same; None where no
    price is known."""
    prices = price_list(settings)
    return None if prices is None else money(prices.of(spent))


def money(parts: int) -> str:
    """Parts of UNIT as an amount, to the millionth: 2500000000000 → 2.5."""
    amount = Decimal(parts).scaleb(-12).quantize(Decimal("0.000001"), ROUND_HALF_EVEN)
    return f"{amount:f}".rstrip("0").rstrip(".")


def per_token(price: float | None) -> int:
    """A price for a million tokens as parts of UNIT for one, exact to the millionth."""
    return round((price or 0.0) * 1_000_000)


def _first(price: float | None, otherwise: float | None) -> float | None:
    return otherwise if price is None else price
