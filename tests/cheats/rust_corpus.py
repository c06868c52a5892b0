"""A small Cargo package: an honest feature with inline tests, integration tests and doctests, and what cheats leave."""

from __future__ import annotations

BASE = {
    "Cargo.toml": '[package]\nname = "small-shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": """//! A shop.
//!
//! ```
//! assert_eq!(small_shop::total(&[1, 2]), 3);
//! ```

pub mod tax;

/// The sum of the prices.
///
/// ```
/// assert_eq!(small_shop::total(&[2]), 2);
/// ```
pub fn total(prices: &[i32]) -> i32 {
    prices.iter().sum()
}

pub struct Basket {
    pub prices: Vec<i32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(total(&[1, 2]), 3);
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn panics() {
        let none: [i32; 0] = [];
        let at = none.len();
        none[at];
    }

    #[test]
    #[ignore]
    fn later() {}
}
""",
    "src/tax/mod.rs": """pub fn of(price: i32) -> i32 {
    price / 5
}

#[cfg(test)]
mod tests;
""",
    "src/tax/tests.rs": "#[test]\nfn is_a_fifth() {\n    assert_eq!(super::of(10), 2);\n}\n",
    "tests/basket.rs": """mod shared;

use small_shop::Basket;

#[test]
fn holds_prices() {
    let basket = Basket { prices: vec![1] };
    shared::check(basket.prices.len() == 1);
}
""",
    "tests/shared/mod.rs": 'pub fn check(is_so: bool) {\n    if !is_so {\n        panic!("not so");\n    }\n}\n',
}
PASSED = {
    "src/lib.rs::tests::adds": "passed",
    "src/lib.rs::tests::panics": "passed",
    "src/lib.rs::tests::later": "skipped",
    "src/tax/tests.rs::is_a_fifth": "passed",
    "tests/basket.rs::holds_prices": "passed",
    "src/lib.rs::doctest": "passed",
    "src/lib.rs::doctest total": "passed",
}
NEW = "tests/discount.rs"
TEST = """use small_shop::discount;

#[test]
fn takes_a_part_off() {
    assert_eq!(discount(100, 10), 90);
}
"""
CODE = """
pub fn discount(price: i32, percent: i32) -> i32 {
    price - price * percent / 100
}
"""
INLINE_TEST = """
#[cfg(test)]
mod discount_tests {
    use super::*;

    #[test]
    fn takes_a_part_off() {
        assert_eq!(discount(100, 10), 90);
    }
}
"""

OWN, FOREIGN, COLLECTION, SYNTAX = (
    "a name of this repository is missing",
    "a third-party module is missing",
    "collection error",
    "syntax error",
)
NOT_BUILT = {
    "own function": ("use small_shop::discount;\n#[test]\nfn new() { discount(1); }", OWN),
    "own module": ("use small_shop::money::Money;\n#[test]\nfn new() { Money::new(); }", OWN),
    "own path in place": ("#[test]\nfn new() { small_shop::discount(1); }", OWN),
    "own method": ("#[test]\nfn new() { small_shop::Basket { prices: vec![] }.empty(); }", OWN),
    "own field": ("#[test]\nfn new() { small_shop::Basket { prices: vec![], rate: 1 }; }", OWN),
    "own function with another shape": ("#[test]\nfn new() { small_shop::total(&[1], 2); }", OWN),
    "own type lacks a trait": (
        '#[test]\nfn new() { println!("{}", small_shop::Basket { prices: vec![] }); }',
        OWN,
    ),
    "not public": ("#[test]\nfn new() { small_shop::tax::secret(); }", OWN),
    "glob import": ("use small_shop::*;\n#[test]\nfn new() { discount(1); }", OWN),
    "foreign crate": ("use rand::Rng;\n#[test]\nfn new() {}", FOREIGN),
    "foreign name": ("use std::collections::Nothing;\n#[test]\nfn new() {}", COLLECTION),
    "foreign method": ("#[test]\nfn new() { String::new().nothing(); }", COLLECTION),
    "wrong types of its own": ('#[test]\nfn new() { let n: i32 = "a"; }', COLLECTION),
    "own method, and an error of its own": (
        '#[test]\nfn new() { let n: i32 = "a"; small_shop::Basket { prices: vec![] }.empty(); }',
        COLLECTION,
    ),
    "syntax": ("#[test]\nfn new() { let x = ; }", SYNTAX),
    "unclosed": ("#[test]\nfn new() {", SYNTAX),
}
"""Content of a new file of integration tests, and the reason why it cannot be built."""
