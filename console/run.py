"""`workflow-engine run`: a planner, a worker and a reviewer in one process."""

from __future__ import annotations

from pathlib import Path

from config.environment import snapshot
from config.loading import checked, load_several
from config.settings import Settings
from planner_agent.build import build as planner
from planner_agent.build import prepare
from reviewer_agent.build import build as reviewer
from runtime.arguments import Arguments
from runtime.daemon.start import Job
from runtime.exit_codes import complain
from runtime.launch import launch_all
from shared.errors import EngineError
from shared.light_imports import load_structlog
from shared.workflow import Role
from worker_agent.build import build as worker

JOBS = (Job(Role.PLANNER, planner, prepare), Job(Role.WORKER, worker), Job(Role.REVIEWER, reviewer))


def together(
    repositories: tuple[str, ...], config: Path | None, *, verbose: bool = False, log_level: str | None = None
) -> int:
    """Run the three until they are stopped or drained; the exit code as of one agent.

    Each has its own identity, health port and slots; one stop, one drain and one reload are for all of them.
    """
    load_structlog()
    environment = snapshot()

    def read() -> Settings:
        return load_several(config, repositories, environment=environment)

    try:
        for name in repositories:
            checked(name)
    except EngineError as error:
        return complain(error)
    arguments = Arguments(None, config, once=False, wait=True, verbose=verbose, agent_id=None, log_level=log_level)
    return launch_all(JOBS, arguments, read, environment)
