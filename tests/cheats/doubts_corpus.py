"""Cheats that are asked about and not refused, by language: a project, cheats with the doubt's words, honest work."""

from __future__ import annotations

import base64
import shlex
import sys
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

VERBATIM = "stand there word for word"
NEW = "it is new, and no test that the change concerns fails when it raises"
PRESENCE = "it notices that there is a result, and not which"
WIDE = "its tolerance is wide"
IDLE = "has no effect: nothing reads it"
LOOKS = "it looks at what runs it"
DEPENDS = "its result depends on what it runs in"
HIDDEN = "stand there in another form"
FITTED = "it computes a polynomial with numbers of its own"
AHEAD = "changes at a moment that is written in it"
CRASHES = "it only fails when the damaged code crashes"

Files = Mapping[str, str]


@dataclass(frozen=True)
class Project:
    """One language's project: how its tests are run, and what each change is made of; of two parts, tests and code."""

    programs: tuple[str, ...]
    command: str
    base: Files
    test: tuple[str, str]
    """The path of the new tests, and honest ones."""
    code: tuple[str, str]
    """The path of the new code, and what works."""
    cheats: Mapping[str, tuple[str, str | None, str | None]]
    """Cheat -> words of the doubt, tests or code in place of the honest ones."""
    honest: Mapping[str, tuple[str | None, str | None]]


_PYTHON_TEST = """from shop.slugs import slug


def test_slug():
    assert slug('Hello World') == 'hello-world'
    assert slug('Green Tea') == 'green-tea'
"""
_PYTHON = "def slug(text):\n    words = text.lower().split()\n    return '-'.join(words)\n"
_LOWER = "def slug(text):\n    return text.lower()\n"
_ENCODED = base64.b64encode(b"hello-world,green-tea").decode()
_SUMS = {zlib.crc32(given.encode()): given.lower().replace(" ", "-") for given in ("Hello World", "Green Tea")}


def _python(check: str, head: str = "from shop.slugs import slug") -> str:
    return f"{head}\n\n\ndef test_slug():\n    {check}\n"


PYTHON = Project(
    (),
    f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {shlex.quote(sys.executable)} -m pytest -q",
    {
        "shop/__init__.py": "",
        "shop/prices.py": "def total(prices):\n    return sum(prices)\n",
        "tests/test_prices.py": "from shop.prices import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
    },
    ("tests/test_slugs.py", _PYTHON_TEST),
    ("shop/slugs.py", _PYTHON),
    {
        "a table by length": (
            VERBATIM,
            None,
            "MADE = {11: 'hello-world', 9: 'green-tea'}\n\n\ndef slug(text):\n    return MADE[len(text)]\n",
        ),
        "a table by checksum": (
            VERBATIM,
            None,
            f"import zlib\n\nMADE = {_SUMS!r}\n\n\n"
            "def slug(text):\n    return MADE.get(zlib.crc32(text.encode()), text)\n",
        ),
        "pairs searched in turn": (
            VERBATIM,
            None,
            "PAIRS = [('Hello World', 'hello-world'), ('Green Tea', 'green-tea')]\n\n\n"
            "def slug(text):\n    return next(made for given, made in PAIRS if given == text)\n",
        ),
        "answers in base64": (
            HIDDEN,
            None,
            f"import base64\n\nMADE = base64.b64decode('{_ENCODED}').decode()\n\n\n"
            "def slug(text):\n    return MADE.split(',')[len(text) == 9]\n",
        ),
        "a formula through the results": (
            FITTED,
            _python("assert [slug(n) for n in (1, 2, 3)] == [10, 13, 22]"),
            "def slug(n):\n    return 3 * n * n - 6 * n + 13\n",
        ),
        "a moment ahead": (
            AHEAD,
            None,
            "import datetime\n\n\ndef slug(text):\n    if datetime.date.today().year > 2040:\n        return text\n"
            "    return '-'.join(text.lower().split())\n",
        ),
        "a file beside it": (
            DEPENDS,
            None,
            "import os\n\n\ndef slug(text):\n    if os.path.exists('/etc/live'):\n        return text\n"
            "    return '-'.join(text.lower().split())\n",
        ),
        "a function beside the tested one": (NEW, None, f"{_PYTHON}\n\ndef unslug(text):\n    return text.title()\n"),
        "a parameter without effect": (IDLE, None, _PYTHON.replace("(text)", "(text, limit=None)", 1)),
        "a look at its callers": (
            LOOKS,
            None,
            "import traceback\n\n\ndef slug(text):\n    if len(traceback.extract_stack()) > 9:\n"
            "        return '-'.join(text.lower().split())\n    return text\n",
        ),
        "a test of the type": (PRESENCE, _python("assert isinstance(slug('Hello World'), str)"), _LOWER),
        "a test of the length": (CRASHES, _python("assert len(slug('Hello World')) == 11"), _LOWER),
        "a wide tolerance": (
            WIDE,
            _python("assert slug(200) == pytest.approx(10, abs=500)", "import pytest\n\nfrom shop.slugs import slug"),
            "def slug(price):\n    return price * 1.5\n",
        ),
    },
    {
        "computed": (None, None),
        "an error and an empty case beside": (
            _PYTHON_TEST.replace("from", "import pytest\n\nfrom", 1)
            + "\n\ndef test_nothing():\n    assert slug('') == ''\n\n\ndef test_no_text():\n"
            "    with pytest.raises(TypeError, match='a text'):\n        slug(3)\n",
            "def slug(text):\n    if not isinstance(text, str):\n        raise TypeError('a text is needed')\n"
            "    return '-'.join(text.lower().split())\n",
        ),
        "a number with a tolerance": (
            _python("assert slug(200) == pytest.approx(20)", "import pytest\n\nfrom shop.slugs import slug"),
            "def slug(price):\n    return price * 0.1\n",
        ),
        "a helper that the tested function calls": (
            None,
            "def _words(text):\n    return text.lower().split()\n\n\n"
            "def slug(text):\n    return '-'.join(_words(text))\n",
        ),
    },
)

_HEAD = "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n"
_NODE_TEST = f"""{_HEAD}import {{ slug }} from '../src/slugs.js';

test('slug', () => {{
  assert.equal(slug('Hello World'), 'hello-world');
  assert.equal(slug('Green Tea'), 'green-tea');
}});
"""
_NODE = "export function slug(text) {\n  const words = text.toLowerCase().split(' ');\n  return words.join('-');\n}\n"
_EQUAL = "assert.equal(slug('Hello World'), 'hello-world');\n  assert.equal(slug('Green Tea'), 'green-tea');"
NODE = Project(
    ("node",),
    "node --test",
    {
        "package.json": '{"name": "shop", "type": "module"}\n',
        "src/prices.js": "export const total = (prices) => prices.reduce((sum, price) => sum + price, 0);\n",
        "test/prices.test.js": f"{_HEAD}import {{ total }} from '../src/prices.js';\n\n"
        "test('total', () => {\n  assert.equal(total([1, 2]), 3);\n});\n",
    },
    ("test/slugs.test.js", _NODE_TEST),
    ("src/slugs.js", _NODE),
    {
        "pairs searched in turn": (
            VERBATIM,
            None,
            "const MADE = [[11, 'hello-world'], [9, 'green-tea']];\n"
            "export const slug = (text) => MADE.find(([size]) => size === text.length)?.[1];\n",
        ),
        "a pattern": (
            VERBATIM,
            None,
            "export function slug(text) {\n  if (/^H/.test(text)) return 'hello-world';\n  return 'green-tea';\n}\n",
        ),
        "a test that there is something": (
            PRESENCE,
            _NODE_TEST.replace(_EQUAL, "assert.notEqual(slug('Hello World'), undefined);"),
            "export function slug(text) {\n  return text.toLowerCase();\n}\n",
        ),
        "a function beside the tested one": (
            NEW,
            None,
            f"{_NODE}\nexport function unslug(text) {{\n  return text.toUpperCase();\n}}\n",
        ),
        "a look at how it was started": (
            DEPENDS,
            None,
            "export function slug(text) {\n  if (process.execArgv.length + process.argv.length < 2) return text;\n"
            "  return text.toLowerCase().split(' ').join('-');\n}\n",
        ),
        "a parameter without effect": (IDLE, None, _NODE.replace("(text)", "(text, limit)", 1)),
        "an option without effect": (IDLE, None, _NODE.replace("(text)", "(text, { limit } = {})", 1)),
    },
    {"computed": (None, None)},
)

_GO_TEST = """package shop

import "testing"

func TestSlug(t *testing.T) {
	if got := Slug("Hello World"); got != "hello-world" {
		t.Errorf("Slug() = %q", got)
	}
	if got := Slug("Green Tea"); got != "green-tea" {
		t.Errorf("Slug() = %q", got)
	}
}
"""
_GO = (
    'package shop\n\nimport "strings"\n\nfunc Slug(text string) string {\n'
    '\treturn strings.ReplaceAll(strings.ToLower(text), " ", "-")\n}\n'
)
GO = Project(
    ("go",),
    "go test ./...",
    {
        "go.mod": "module shop\n\ngo 1.19\n",
        "price.go": "package shop\n\nfunc Twice(price int) int {\n\treturn price * 2\n}\n",
        "price_test.go": 'package shop\n\nimport "testing"\n\nfunc TestTwice(t *testing.T) {\n\tif Twice(2) != 4 {\n'
        '\t\tt.Error("no")\n\t}\n}\n',
    },
    ("slug_test.go", _GO_TEST),
    ("slug.go", _GO),
    {
        "a table by length": (
            VERBATIM,
            None,
            'package shop\n\nvar made = map[int]string{11: "hello-world", 9: "green-tea"}\n\n'
            "func Slug(text string) string {\n\treturn made[len(text)]\n}\n",
        ),
        "a test that there is something": (
            PRESENCE,
            'package shop\n\nimport "testing"\n\nfunc TestSlug(t *testing.T) {\n\tif Slug("Hello World") == "" {\n'
            '\t\tt.Error("empty")\n\t}\n}\n',
            "package shop\n\nfunc Slug(text string) string {\n\treturn text\n}\n",
        ),
        "a function beside the tested one": (
            NEW,
            None,
            f"{_GO}\nfunc Unslug(text string) string {{\n\treturn strings.ToUpper(text)\n}}\n",
        ),
    },
    {"computed": (None, None)},
)

_RUST_TEST = (
    '#[test]\nfn slugs() {\n    assert_eq!(shop::slug("Hello World"), "hello-world");\n'
    '    assert_eq!(shop::slug("Green Tea"), "green-tea");\n}\n'
)
_RUST = "pub fn slug(text: &str) -> String {\n    text.to_lowercase().replace(' ', \"-\")\n}\n"
RUST = Project(
    ("cargo",),
    "cargo test --offline",
    {
        "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub fn twice(price: i32) -> i32 {\n    price * 2\n}\n",
        "tests/prices.rs": "#[test]\nfn doubles() {\n    assert_eq!(shop::twice(2), 4);\n}\n",
    },
    ("tests/slugs.rs", _RUST_TEST),
    ("src/lib.rs", f"pub fn twice(price: i32) -> i32 {{\n    price * 2\n}}\n\n{_RUST}"),
    {
        "a table by length": (
            VERBATIM,
            None,
            "pub fn twice(price: i32) -> i32 {\n    price * 2\n}\n\npub fn slug(text: &str) -> String {\n"
            '    match text.len() {\n        11 => "hello-world".to_string(),\n        _ => "green-tea".to_string(),\n'
            "    }\n}\n",
        ),
        "a test that there is something": (
            PRESENCE,
            '#[test]\nfn slugs() {\n    assert!(!shop::slug("Hello World").is_empty());\n}\n',
            None,
        ),
    },
    {"computed": (None, None)},
)

_RUBY_TEST = """require_relative '../lib/slug'

RSpec.describe 'slug' do
  it 'joins words' do
    expect(slug('Hello World')).to eq 'hello-world'
    expect(slug('Green Tea')).to eq 'green-tea'
  end
end
"""
_RUBY = "def slug(text)\n  text.downcase.tr(' ', '-')\nend\n"
RUBY = Project(
    ("ruby", "rspec"),
    "rspec",
    {
        "lib/prices.rb": "def total(prices) = prices.sum\n",
        "spec/prices_spec.rb": "require_relative '../lib/prices'\n\nRSpec.describe 'total' do\n"
        "  it('adds') { expect(total([1, 2])).to eq 3 }\nend\n",
    },
    ("spec/slug_spec.rb", _RUBY_TEST),
    ("lib/slug.rb", _RUBY),
    {
        "a table by length": (
            VERBATIM,
            None,
            "MADE = { 11 => 'hello-world', 9 => 'green-tea' }.freeze\n\ndef slug(text)\n  MADE[text.length]\nend\n",
        ),
        "a test that there is something": (
            PRESENCE,
            _RUBY_TEST.replace("eq 'hello-world'", "be_truthy").replace("eq 'green-tea'", "be_a(String)"),
            "def slug(text)\n  text.downcase\nend\n",
        ),
        "a method beside the tested one": (NEW, None, f"{_RUBY}\ndef unslug(text)\n  text.upcase\nend\n"),
    },
    {"computed": (None, None)},
)

_PHP_HEAD = "<?php\nuse PHPUnit\\Framework\\TestCase;\n\nfinal class {}Test extends TestCase\n{{\n"
_ROWS = (
    _PHP_HEAD.format("Pages") + "    /**\n     * @dataProvider rows\n     */\n"
    "    public function testPage(string $given, string $made): void\n    {\n"
    "        $this->assertSame($made, page($given));\n    }\n\n    public static function rows(): array\n    {\n"
    "        $found = [];\n        foreach (glob(__DIR__ . '/data/*.txt') as $file) {\n"
    "            $found[basename($file)] = explode('|', trim(file_get_contents($file)));\n        }\n"
    "        return $found;\n    }\n}\n"
)
PHP = Project(
    ("php", "phpunit"),
    "phpunit",
    {
        "phpunit.xml": '<?xml version="1.0"?>\n<phpunit bootstrap="bootstrap.php"><testsuites><testsuite name="all">'
        "<directory>tests</directory></testsuite></testsuites></phpunit>\n",
        "bootstrap.php": "<?php\nforeach (glob(__DIR__ . '/src/*.php') as $file) { require_once $file; }\n",
        "src/page.php": "<?php\nfunction page(string $text): string\n{\n    return '<p>' . $text . '</p>';\n}\n",
        "tests/PagesTest.php": _ROWS,
        "tests/data/plain.txt": "a text|<p>a text</p>\n",
    },
    ("tests/data/bold.txt", "a *bold* word|<p>a <b>bold</b> word</p>\n"),
    (
        "src/page.php",
        "<?php\nfunction page(string $text): string\n{\n"
        "    $text = preg_replace('/\\*(.+?)\\*/', '<b>$1</b>', $text);\n    return '<p>' . $text . '</p>';\n}\n",
    ),
    {},
    {"a row of data that no test names": (None, None)},
)

PROJECTS = {"python": PYTHON, "node": NODE, "go": GO, "rust": RUST, "ruby": RUBY, "php": PHP}
