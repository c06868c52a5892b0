"""A small PHP project: its files, a new test for what is missing, and what cheats write."""

from __future__ import annotations

OLD = "tests/MoneyTest.php"
NEW = "tests/DiscountTest.php"
CODE = "src/Discount.php"
NAMED = f"{NEW}::DiscountTest::testTakesOne"
PASSED = {
    f"{OLD}::MoneyTest::testAdds",
    f'{OLD}::MoneyTest::testRows with data set "one"',
    f"{OLD}::MoneyTest::testRows with data set #0",
}
BASE = {
    "composer.json": (
        '{"name": "acme/money", "autoload": {"psr-4": {"App\\\\": "src/"}}, '
        '"autoload-dev": {"psr-4": {"Tests\\\\": "tests/"}}}\n'
    ),
    "phpunit.xml": (
        '<?xml version="1.0"?>\n<phpunit bootstrap="bootstrap.php"><testsuites><testsuite name="all">'
        "<directory>tests</directory></testsuite></testsuites></phpunit>\n"
    ),
    "bootstrap.php": (
        "<?php\nspl_autoload_register(function ($class) {\n"
        "    $file = __DIR__ . '/src/' . str_replace('\\\\', '/', substr($class, 4)) . '.php';\n"
        "    if (str_starts_with($class, 'App\\\\') && is_file($file)) { require $file; }\n});\n"
    ),
    "src/Money.php": (
        "<?php\nnamespace App;\n\nclass Money\n{\n    public function __construct(public int $amount) {}\n\n"
        "    public function add(Money $other): Money\n    {\n"
        "        return new Money($this->amount + $other->amount);\n    }\n}\n"
    ),
    OLD: (
        "<?php\n\nnamespace Tests;\n\nuse App\\Money;\nuse PHPUnit\\Framework\\TestCase;\n\n"
        "final class MoneyTest extends TestCase\n{\n    public function testAdds(): void\n    {\n"
        "        $this->assertSame(3, (new Money(1))->add(new Money(2))->amount);\n    }\n\n"
        "    /**\n     * @dataProvider rows\n     */\n"
        "    public function testRows(int $left, int $right): void\n    {\n"
        "        $this->assertSame($left, (new Money($right))->amount);\n    }\n\n"
        "    public static function rows(): array\n    {\n        return ['one' => [1, 1], [2, 2]];\n    }\n}\n"
    ),
}
WORKS = (
    "<?php\nnamespace App;\n\nclass Discount\n{\n    public function of(Money $money): Money\n    {\n"
    "        return new Money($money->amount - 1);\n    }\n}\n"
)
TAKES_ONE = "$this->assertSame(2, (new \\App\\Discount())->of(new \\App\\Money(3))->amount);"


def new_file(body: str, extends: str = "\\PHPUnit\\Framework\\TestCase", more: str = "") -> str:
    """Return a test file with one test."""
    return (
        f"<?php\n\nnamespace Tests;\n\nfinal class DiscountTest extends {extends}\n{{\n{more}"
        f"    public function testTakesOne(): void\n    {{\n        {body}\n    }}\n}}\n"
    )


INSIDE = {
    "an own class": ("new \\App\\Purse();", "first"),
    "an own method": ("(new \\App\\Money(1))->mul(2);", "other"),
    "an own function": ("\\App\\nope();", "other"),
    "an own constant": ("echo \\App\\Money::ZERO;", "other"),
    "a class of a package": ("new \\Monolog\\Logger('x');", "third"),
    "an exception": ("throw new \\RuntimeException('no');", "other"),
}
LOST = {
    "an own parent": (new_file("", "\\Tests\\Support\\OwnTestCase"), "first"),
    "a parent of a package": (new_file("", "\\Orchestra\\Testbench\\TestCase"), "third"),
    "syntax": (new_file("("), "syntax"),
}
PATCHED = (
    "<?php\nnamespace Tests;\n\nabstract class TestCase extends \\PHPUnit\\Framework\\TestCase\n{\n"
    "    public static function assertSame($expected, $actual, string $message = ''): void\n    {\n"
    "        parent::assertTrue(true);\n    }\n}\n"
)
"""A parent whose assertions pass whatever they compare."""

REWRITES = (
    "$path = $_SERVER['argv'][array_search('--log-junit', $_SERVER['argv']) + 1];\n"
    "        $case = '<testcase name=\"testTakesOne\"/>';\n"
    '        file_put_contents($path, "<testsuites><testsuite>$case</testsuite></testsuites>");\n'
    "        $this->fail('no');"
)
"""Writes a report of its own where the runner is going to write the real one."""
