# The engine on a machine that systemd runs, with the units as docs/operating.md installs them.
FROM workflow-engine:test
USER 0:0
RUN apt-get update \
    && apt-get install --yes --no-install-recommends dbus procps systemd systemd-sysv \
    && rm -rf /var/lib/apt/lists/* \
    && ln -s /opt/venv /opt/workflow-engine
COPY workflow-engine.sysusers.conf /etc/sysusers.d/workflow-engine.conf
COPY planner-agent@.service worker-agent@.service reviewer-agent@.service /etc/systemd/system/
RUN systemd-sysusers
