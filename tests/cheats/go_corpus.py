"""A small Go module: an honest feature in two packages, and what cheats leave in it."""

from __future__ import annotations

BASE = {
    "go.mod": "module example.com/shop\n\ngo 1.19\n",
    "price.go": """package shop

type Basket struct{ Prices []int }

func (b *Basket) Add(price int) { b.Prices = append(b.Prices, price) }

func Total(prices []int) int {
	sum := 0
	for _, price := range prices {
		sum += price
	}
	return sum
}
""",
    "price_test.go": """package shop

import (
	"fmt"
	"testing"
)

// TestTotal is a table, as usual.
func TestTotal(t *testing.T) {
	for name, want := range map[string]int{"one two": 3, "none": 0} {
		t.Run(name, func(t *testing.T) {
			prices := []int{1, 2}[:want/3*2]
			if got := Total(prices); got != want {
				t.Errorf("Total() = %d, want %d", got, want)
			}
		})
	}
}

func TestSkipped(t *testing.T) { t.Skip("later") }

func ExampleTotal() {
	fmt.Println(Total([]int{1, 2}))
	// Output: 3
}

func FuzzTotal(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, price int) {
		if Total([]int{price}) != price {
			t.Fatal(price)
		}
	})
}

func BenchmarkTotal(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Total([]int{1})
	}
}
""",
    "tax/tax.go": "package tax\n\nfunc Of(price int) int { return price / 5 }\n",
    "tax/tax_test.go": """package tax_test

import (
	"testing"

	"example.com/shop/tax"
)

func TestOf(t *testing.T) {
	if tax.Of(10) != 2 {
		t.Fatal("not a fifth")
	}
}
""",
}
PASSED = {
    "price_test.go::TestTotal": "passed",
    "price_test.go::TestTotal/one_two": "passed",
    "price_test.go::TestTotal/none": "passed",
    "price_test.go::TestSkipped": "skipped",
    "price_test.go::ExampleTotal": "passed",
    "price_test.go::FuzzTotal": "passed",
    "price_test.go::FuzzTotal/seed#0": "passed",
    "tax/tax_test.go::TestOf": "passed",
}
NEW = "discount_test.go"
TEST = """package shop

import "testing"

func TestDiscount(t *testing.T) {
	if got := Discount(100, 10); got != 90 {
		t.Errorf("Discount() = %d", got)
	}
	b := Basket{Prices: []int{100}, Rate: 10}
	if b.Discounted() != 90 {
		t.Error("the basket has no discount")
	}
}
"""
CODE = {
    "price.go": BASE["price.go"].replace("Prices []int }", "Prices []int; Rate int }"),
    "discount.go": """package shop

func Discount(price, percent int) int { return price - price*percent/100 }

func (b Basket) Discounted() int { return Discount(Total(b.Prices), b.Rate) }
""",
}

NOT_BUILT = {
    "own name": ("func TestNew(t *testing.T) { Discount(1) }", "", "a name of this repository is missing"),
    "own method": (
        "func TestNew(t *testing.T) { var b Basket; b.Empty() }",
        "",
        "a name of this repository is missing",
    ),
    "own method of what a call gives": (
        'func TestNew(t *testing.T) { func(name string) *Basket { return &Basket{} }("a b").Empty() }',
        "",
        "a name of this repository is missing",
    ),
    "own name of another package": (
        "func TestNew(t *testing.T) { tax.Rate() }",
        'import "example.com/shop/tax"',
        "a name of this repository is missing",
    ),
    "own package": (
        "func TestNew(t *testing.T) { money.New() }",
        'import "example.com/shop/money"',
        "a name of this repository is missing",
    ),
    "own function with another shape": (
        "func TestNew(t *testing.T) { _ = Total([]int{1}, 10) }",
        "",
        "a name of this repository is missing",
    ),
    "own function with another result": (
        "func TestNew(t *testing.T) { _, err := Total(nil); _ = err }",
        "",
        "a name of this repository is missing",
    ),
    "own type lacks a method of an interface": (
        "func TestNew(t *testing.T) { var s fmt.Stringer = &Basket{}; _ = s }",
        'import "fmt"',
        "a name of this repository is missing",
    ),
    "foreign package": (
        "func TestNew(t *testing.T) { uuid.New() }",
        'import "github.com/nobody/uuid"',
        "a third-party module is missing",
    ),
    "foreign method": (
        "func TestNew(t *testing.T) { var b strings.Builder; b.Empty() }",
        'import "strings"',
        "collection error",
    ),
    "foreign name": ("func TestNew(t *testing.T) { strings.Nothing() }", 'import "strings"', "collection error"),
    "forgotten import": ("func TestNew(t *testing.T) { strings.ToUpper(``) }", "", "collection error"),
    "unused import": ("func TestNew(t *testing.T) {}", 'import "strings"', "collection error"),
    "own name, and an error of its own": (
        'func TestNew(t *testing.T) { Discount(1); var n int = "a"; _ = n }',
        "",
        "collection error",
    ),
    "syntax": ("func TestNew(t *testing.T) { if }", "", "syntax error"),
    "bad expression": ("func TestNew(t *testing.T) { x := := 1 }", "", "syntax error"),
}
"""Function and imports of a new test file of the root package, and the reason why it cannot be built."""


def new_file(function: str, imports: str) -> str:
    """Return a test file of the root package."""
    return f'package shop\n\nimport "testing"\n{imports}\n\n{function}\n'


CRASHES = {
    "panics": ("var m map[string]int; m[`a`] = 1", "assertion or exception", "panic: assignment to entry in nil map"),
    "panics in a goroutine": ("go func() { panic(`far`) }(); select {}", "assertion or exception", "panic: far"),
    "exits with 0": ("os.Exit(0)", "assertion or exception", "panic: unexpected call to os.Exit(0) during test"),
    "exits with 3": ("os.Exit(3)", "other", "the package ended before this test was through"),
}
"""Bodies that end the test binary early; the kind and the first line that is told of the test."""
