"""A small Java project for Maven and for Gradle: an honest feature, and what cheats leave in it."""

from __future__ import annotations

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>example</groupId><artifactId>{name}</artifactId><version>1</version>{more}
<properties>
<maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>
<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
</properties>
<dependencies>{needs}
<dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>
<version>5.9.2</version><scope>test</scope></dependency>
</dependencies>
<build><plugins>
<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.0</version></plugin>
<plugin><artifactId>maven-compiler-plugin</artifactId><version>3.10.1</version></plugin>
<plugin><artifactId>maven-surefire-plugin</artifactId><version>2.22.3</version></plugin>
</plugins></build>
</project>
"""
"""The versions that Debian 12 has."""

PRICE = "src/main/java/shop/Price.java"
PRICE_TEST = "src/test/java/shop/PriceTest.java"
TAX_TEST = "src/test/java/shop/tax/TaxTest.java"
NEW = "src/test/java/shop/DiscountTest.java"

CODE = {
    PRICE: """package shop;

public class Price {
    public static int total(int... prices) {
        int sum = 0;
        for (int price : prices) {
            sum += price;
        }
        return sum;
    }
}
""",
    "src/main/java/shop/tax/Tax.java": (
        "package shop.tax;\n\npublic class Tax {\n    public int of(int price) { return price / 5; }\n}\n"
    ),
}
MAVEN = {
    **CODE,
    "pom.xml": POM.format(name="shop", more="", needs=""),
    PRICE_TEST: """package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PriceTest {
    @Test
    void adds() {
        System.out.println("[INFO] Tests run: 99, Failures: 0, Errors: 0, Skipped: 0");
        assertEquals(3, Price.total(1, 2));
    }

    /** Each alone. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void rows(int price) {
        assertEquals(price, Price.total(price));
    }

    @Test
    @Disabled
    void later() {}

    @Nested
    class WithoutPrices {
        @Test
        void isNothing() {
            assertEquals(0, Price.total());
        }
    }
}
""",
    TAX_TEST: """package shop.tax;

import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

class TaxTest {
    @Test
    void isAFifth() {
        Assertions.assertEquals(2, new Tax().of(10));
    }
}
""",
}
PASSED = {
    f"{PRICE_TEST}::PriceTest::adds": "passed",
    f"{PRICE_TEST}::PriceTest::rows[1]": "passed",
    f"{PRICE_TEST}::PriceTest::rows[2]": "passed",
    f"{PRICE_TEST}::PriceTest::later": "skipped",
    f"{PRICE_TEST}::PriceTest::WithoutPrices::isNothing": "passed",
    f"{TAX_TEST}::TaxTest::isAFifth": "passed",
}
GRADLE = {
    **CODE,
    "build.gradle": """apply plugin: 'java'
repositories { flatDir { dirs '/usr/share/java' } }
dependencies { testCompile name: 'junit4'; testCompile name: 'hamcrest-core' }
""",
    PRICE_TEST: """package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Ignore;
import org.junit.Test;

public class PriceTest {
    @Test
    public void adds() {
        assertEquals(3, Price.total(1, 2));
    }

    @Test
    @Ignore
    public void later() {}
}
""",
    TAX_TEST: MAVEN[TAX_TEST]
    .replace("org.junit.jupiter.api.Test", "org.junit.Test")
    .replace("org.junit.jupiter.api.Assertions", "org.junit.Assert")
    .replace("Assertions.", "Assert.")
    .replace("class TaxTest", "public class TaxTest")
    .replace("void isA", "public void isA"),
}
GRADLE_PASSED = {
    f"{PRICE_TEST}::PriceTest::adds": "passed",
    f"{PRICE_TEST}::PriceTest::later": "skipped",
    f"{TAX_TEST}::TaxTest::isAFifth": "passed",
}
DISCOUNT = PRICE.replace("Price", "Discount")
DISCOUNT_CODE = """package shop;

public class Discount {
    public static int of(int price, int percent) {
        return price - price * percent / 100;
    }
}
"""


def new_test(body: str, imports: str = "", framework: str = "org.junit.jupiter.api.Test") -> str:
    """Return a test class of the package `shop`."""
    return f"package shop;\n\nimport {framework};\n{imports}\n\npublic class DiscountTest {{\n    {body}\n}}\n"


TEST = new_test(
    "@Test public void takesAPartOff() { assertEquals(90, Discount.of(100, 10)); }",
    "import static org.junit.jupiter.api.Assertions.assertEquals;",
)
GRADLE_TEST = TEST.replace("org.junit.jupiter.api.Assertions", "org.junit.Assert").replace("jupiter.api.", "")

FAKE = """<?xml version="1.0"?><testsuite name="shop.FakeTest" tests="1">
<testcase name="wins" classname="shop.FakeTest"/></testsuite>"""
"""A false report that a test writes beside Surefire's own files."""
