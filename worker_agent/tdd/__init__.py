"""Test-first work, proved by machine: tests are run, compared and judged. No GitHub here; git through `shared`."""
