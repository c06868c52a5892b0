"""Prices of tokens: the list, names with dates behind them, long prompts, and models without a known price."""

from __future__ import annotations

import pytest

from shared.llm.prices import Price, Prices, Tokens

LISTED = Prices.listed()


@pytest.mark.parametrize(
    ("tokens", "usd"),
    [
        # What the real CLI itself charged for the same tokens.
        (Tokens("claude-opus-4-8", 3000, 150, 900, 600), 0.02295),
        (Tokens("claude-opus-5-5", 3000, 150, 900, 600), 0.01818),
        (Tokens("claude-opus-5-5", 200000, 20000, 300, 200), 1.20106),
        (Tokens("claude-opus-4-8[1m]", 3000, 150, 900, 600), 0.02295),
        (Tokens("claude-sonnet-4-5-20250929", 1_000_000), 3.0),
        (Tokens("gpt-5-2025-08-07", 1_000_000, 0, 1_000_000), 1.375),
        # What Codex 0.163 and 0.169 choose when no model is asked for.
        (Tokens("gpt-6.1-sol", 100_000, 10_000, 100_000, 10_000), 0.335),
        (Tokens("gpt-6.1-sol", 1_000_000), 4.0),
        (Tokens("claude-opus-4-8", written_hour=1_000_000), 10.0),
        (Tokens("claude-haiku-5-5", 100_000, 1_000_000), 0.51),
        (Tokens("claude-haiku-5-5", 1, 1_000_000, 100_000), 2.505),
    ],
)
def test_what_a_request_costs(tokens: Tokens, usd: float) -> None:
    assert LISTED.cost(tokens) == pytest.approx(usd, abs=1e-4)


@pytest.mark.parametrize("model", ["", "claude-opus", "claude-opus-4-8-mini", "gpt-5.9", "lab"])
def test_the_price_of_an_unlisted_model_is_not_guessed(model: str) -> None:
    assert LISTED.cost(Tokens(model, 1000)) is None
    assert LISTED.most(Tokens(model, 100_000)) == 1.5


def test_the_configuration_has_the_last_word() -> None:
    own = Price(input=1, output=1, cached=1, written=1)
    prices = Prices.listed({"lab": own, "claude-opus-4-8": own})
    assert prices.cost(Tokens("lab", 1_000_000)) == 1.0
    assert prices.cost(Tokens("claude-opus-4-8", 1_000_000)) == 1.0
    assert prices.cost(Tokens("claude-opus-4-7", 1_000_000)) == 5.0
