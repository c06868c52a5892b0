# One image for all commands; name the one to run:
#
#   docker build -t workflow-engine .
#   docker run --init -v engine-state:/var/lib/workflow-engine \
#     -v ./config/repos.yml:/etc/workflow-engine/repos.yml:ro -e GITHUB_TOKEN \
#     workflow-engine worker-agent --config /etc/workflow-engine/repos.yml
#
# `--init` lets a small first process collect the orphans that tests leave.

FROM python:3.11-slim AS build
WORKDIR /src
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/venv
COPY constraints.txt pyproject.toml setup.py README.md LICENSE ./
COPY planner_agent planner_agent
COPY worker_agent worker_agent
COPY reviewer_agent reviewer_agent
COPY shared shared
COPY config config
COPY lab lab
COPY console console
COPY runtime runtime
# With what the tests of the demonstration's project need: the demonstration fetches nothing.
RUN /opt/venv/bin/pip install --constraint constraints.txt '.[app,postgres,otel]' \
    && PIP_CONSTRAINT=/src/constraints.txt \
    /opt/venv/bin/workflow-engine demo --set-up --directory /opt/venv/share/workflow-engine/demo

FROM python:3.11-slim
LABEL org.opencontainers.image.title="Workflow Engine" \
      org.opencontainers.image.description="Turns stories on GitHub into tested, reviewed and merged pull requests." \
      org.opencontainers.image.licenses="MIT"

# git follows the release of the base image: its security updates must not wait for this file.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git libfaketime \
    && rm -rf /var/lib/apt/lists/*

# `engine` runs the agents. `coder` is for their children, which must not read what the engine owns;
# it shares no group with it.
RUN useradd --uid 10001 --user-group --home-dir /var/lib/workflow-engine --no-create-home --shell /usr/sbin/nologin engine \
    && useradd --uid 10002 --user-group --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin coder \
    && install --directory --mode=0755 /etc/workflow-engine \
    && install --directory --owner=engine --group=engine --mode=0700 /var/lib/workflow-engine \
    && install --directory --owner=engine --group=engine --mode=0711 /srv/work

COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    STATE_DIRECTORY=/var/lib/workflow-engine \
    XDG_CONFIG_HOME=/etc

VOLUME /var/lib/workflow-engine
WORKDIR /etc/workflow-engine
USER 10001:10001

# What this proves, and what it does not, stands at the top of config/health.py.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-P", "-m", "config.health", "/var/lib/workflow-engine"]

# No ENTRYPOINT: planner-agent, worker-agent, reviewer-agent and workflow-engine are all run by name.
CMD ["worker-agent", "--help"]
