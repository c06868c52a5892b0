"""A worker's policy always has a suite: those that are configured, or the one of the repository's own keys."""

from __future__ import annotations

from config.repository import RepositorySettings
from config.suites import SuiteSettings
from worker_agent.policy import Policy, SuitePolicy, suites_of


def test_without_suites_there_is_the_one_of_the_repository() -> None:
    assert Policy("o/r").suites == (SuitePolicy(),)
    asked = Policy("o/r", working_directory="api", test_command="make", test_report="out.xml")
    assert asked.suites == (SuitePolicy("api", "make", "out.xml"),)


def test_the_configuration_describes_one_suite_or_several() -> None:
    one = RepositorySettings(name="o/r", working_directory="api", test_command="make", test_report="out.xml")
    assert suites_of(one) == (SuitePolicy("api", "make", "out.xml"),)
    assert suites_of(RepositorySettings(name="o/r")) == (SuitePolicy(),)
    several = RepositorySettings(name="o/r", suites=(SuiteSettings(directory="api"), SuiteSettings(directory="web")))
    assert suites_of(several) == (SuitePolicy("api"), SuitePolicy("web"))


def test_configured_suites_stay_as_they_are() -> None:
    several = (SuitePolicy("api"), SuitePolicy("web", "npx vitest run"))
    assert Policy("o/r", suites=several).suites == several
