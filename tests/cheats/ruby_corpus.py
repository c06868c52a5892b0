"""A small Ruby project for RSpec and minitest: its files, a new test for what is missing, and what cheats write."""

from __future__ import annotations

CODE = "lib/discount.rb"
MONEY = """\
class Money
  attr_reader :amount

  def initialize(amount) = @amount = amount
  def add(other) = Money.new(amount + other.amount)
end
"""
WORKS = "require_relative 'money'\n\nclass Discount\n  def of(money) = Money.new(money.amount - 1)\nend\n"

FILES = {
    "rspec": {
        "lib/money.rb": MONEY,
        "spec/money_spec.rb": (
            "require_relative '../lib/money'\n\nRSpec.describe Money do\n"
            "  it 'adds' do\n    expect(Money.new(1).add(Money.new(2)).amount).to eq 3\n  end\n\n"
            "  context 'with nothing' do\n    it('is zero') { expect(Money.new(0).amount).to eq 0 }\n  end\nend\n"
        ),
    },
    "minitest": {
        "lib/money.rb": MONEY,
        "Rakefile": "require 'rake/testtask'\nRake::TestTask.new { |task| task.pattern = 'test/**/*_test.rb' }\n",
        "test/money_test.rb": (
            "require 'minitest/autorun'\nrequire_relative '../lib/money'\n\nclass MoneyTest < Minitest::Test\n"
            "  def test_adds\n    assert_equal 3, Money.new(1).add(Money.new(2)).amount\n  end\n\n"
            "  def test_is_zero\n    assert_equal 0, Money.new(0).amount\n  end\nend\n"
        ),
    },
}
OLD = {"rspec": "spec/money_spec.rb", "minitest": "test/money_test.rb"}
NEW = {"rspec": "spec/discount_spec.rb", "minitest": "test/discount_test.rb"}
PASSED = {
    "rspec": {"spec/money_spec.rb::Money adds", "spec/money_spec.rb::Money with nothing is zero"},
    "minitest": {"test/money_test.rb::MoneyTest::test_adds", "test/money_test.rb::MoneyTest::test_is_zero"},
}
NAMED = {
    "rspec": "spec/discount_spec.rb::discount takes one",
    "minitest": "test/discount_test.rb::DiscountTest::test_takes_one",
}


def new_file(runner: str, body: str, head: str = "require_relative '../lib/money'\n") -> str:
    """Return a test file with one test."""
    if runner == "rspec":
        return f"{head}\nRSpec.describe 'discount' do\n  it 'takes one' do\n    {body}\n  end\nend\n"
    start = f"require 'minitest/autorun'\n{head}\nclass DiscountTest < Minitest::Test\n"
    return f"{start}  def test_takes_one\n    {body}\n  end\nend\n"


def takes_one(runner: str, head: str = "require_relative '../lib/discount'\n") -> str:
    """Return the new test."""
    found = "Discount.new.of(Money.new(3)).amount"
    return new_file(runner, f"expect({found}).to eq 2" if runner == "rspec" else f"assert_equal 2, {found}", head)


INSIDE = {
    "a missing constant": ("Purse.new", False),
    "a missing method": ("Money.new(1).mul(2)", False),
    "an error": ("raise 'no'", False),
}
LOADING = {
    "an own file": ("require_relative '../lib/purse'\n", "first"),
    "a constant": ("require_relative '../lib/money'\nPurse\n", "first"),
    "a gem": ("require 'no_such_gem_anywhere'\n", "third"),
    "syntax": ("def broken(\n", "syntax"),
}
LEAVES = {"exit": "exit(0)", "exit!": "exit!(0)"}
PATCHED = {
    "rspec": "module RSpec::Expectations\n  class ExpectationTarget\n    def to(*) = true\n  end\nend\n",
    "minitest": "module Minitest::Assertions\n  def assert_equal(*) = true\nend\n",
}
"""Makes assertions pass whatever they compare."""
