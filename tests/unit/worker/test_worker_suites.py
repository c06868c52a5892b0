"""A worker's policy always has a suite: those that are configured, or the one of the repository's own keys."""

from __future__ import annotations

from config.repository import RepositorySettings
from config.suites import SuiteSettings
from worker_agent.policy import CodePolicy, SuitePolicy, code_policy, suites_of


def test_without_suites_there_is_the_one_of_the_repository() -> None:
    assert CodePolicy().suites == (SuitePolicy(),)
    asked = RepositorySettings(name="o/r", working_directory="api", test_command="make", test_report="out.xml")
    assert code_policy(asked).suites == (SuitePolicy("api", "make", "out.xml"),)
    assert code_policy(asked).working_directory == "api"


def test_the_configuration_describes_one_suite_or_several() -> None:
    one = RepositorySettings(name="o/r", working_directory="api", test_command="make", test_report="out.xml")
    assert suites_of(one) == (SuitePolicy("api", "make", "out.xml"),)
    assert suites_of(RepositorySettings(name="o/r")) == (SuitePolicy(),)
    several = RepositorySettings(name="o/r", suites=(SuiteSettings(directory="api"), SuiteSettings(directory="web")))
    assert suites_of(several) == (SuitePolicy("api"), SuitePolicy("web"))
