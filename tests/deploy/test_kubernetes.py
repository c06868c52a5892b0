"""The kustomizations: they build without a remark, Kubernetes' strict schemas know every field, and nothing is open."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from promql import asked

from deploy.conftest import AGENTS, DEPLOY, ROOT, run
from runtime.signals import STOP_SECONDS
from shared.workflow import Stage

OVERLAYS = ("bubblewrap", "container", "autoscaled")
VERSIONS = ("1.33", "1.37")
"""The oldest Kubernetes in which user namespaces need no switch, and the newest whose schemas are known."""

OWN_KINDS = {"ScaledObject"}
"""Kinds that Kubernetes itself does not know."""

Resources = list[dict[str, Any]]


def built(kustomize: tuple[str, ...], overlay: str) -> Resources:
    done = run(*kustomize, DEPLOY / "kubernetes/overlays" / overlay)
    assert (done.returncode, done.stderr) == (0, "")
    return [resource for resource in yaml.safe_load_all(done.stdout) if resource is not None]


@pytest.fixture(scope="session")
def overlays(kustomize: tuple[str, ...]) -> Mapping[str, Resources]:
    """Return the resources that each overlay makes."""
    return {overlay: built(kustomize, overlay) for overlay in OVERLAYS}


def of(resources: Resources, kind: str) -> dict[str, dict[str, Any]]:
    """Return the resources of one kind by name."""
    return {one["metadata"]["name"]: one for one in resources if one["kind"] == kind}


def pod(resources: Resources, agent: str) -> dict[str, Any]:
    found: dict[str, Any] = of(resources, "Deployment")[agent]["spec"]["template"]["spec"]
    return found


def complaints(program: Path, resources: Resources, version: str, place: Path) -> str:
    """Return what the strict schemas of one version object to in these resources; none may be skipped either."""
    file = place / "resources.yaml"
    file.write_text(yaml.safe_dump_all(resources), encoding="utf-8")
    done = run(program, "--strict", "--kubernetes-version", version, file)
    lines = f"{done.stdout}{done.stderr}".splitlines()
    passed = [line for line in lines if f"against version {version}" in line and " passed " in line]
    rest = [line for line in lines if line not in passed]
    assert done.returncode != 0 or len(passed) == len(resources), lines
    return "\n".join(rest) + (f"\nexit code {done.returncode}" if done.returncode else "")


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_knows_every_field(
    overlays: Mapping[str, Resources], kubernetes_validate: Path, overlay: str, version: str, tmp_path: Path
) -> None:
    resources = [one for one in overlays[overlay] if one["kind"] not in OWN_KINDS]
    assert complaints(kubernetes_validate, resources, version, tmp_path) == ""


def test_a_misspelt_field_would_be_found(
    overlays: Mapping[str, Resources], kubernetes_validate: Path, tmp_path: Path
) -> None:
    wrong = dict(of(overlays["bubblewrap"], "PodDisruptionBudget")["worker"])
    wrong["spec"] = {**wrong["spec"], "maxUnavailible": 1}
    assert "maxUnavailible" in complaints(kubernetes_validate, [wrong], VERSIONS[0], tmp_path)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_everything_is_in_one_namespace_and_no_secret_is_in_a_file(
    overlays: Mapping[str, Resources], overlay: str
) -> None:
    resources = overlays[overlay]
    assert set(of(resources, "Deployment")) == set(AGENTS)
    assert {one["metadata"].get("namespace") for one in resources if one["kind"] != "Namespace"} == {"workflow-engine"}
    assert of(resources, "Secret") == {}


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("agent", AGENTS)
def test_any_number_of_pods_is_alike(overlays: Mapping[str, Resources], overlay: str, agent: str) -> None:
    """No pod has a name, a disk or a key of its own, and each gets the time that it takes to give its locks back."""
    found = pod(overlays[overlay], agent)
    (container,) = found["containers"]
    kinds = {next(iter(set(volume) - {"name"})) for volume in found["volumes"]}
    assert kinds == {"configMap", "secret", "emptyDir"}
    assert container["args"] == [f"{agent}-agent", "--config", "/etc/workflow-engine/repos.yml"]
    assert found["terminationGracePeriodSeconds"] > STOP_SECONDS
    assert found["automountServiceAccountToken"] is False
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["capabilities"]["drop"] == ["ALL"]


def test_each_mode_has_what_its_recipe_names(overlays: Mapping[str, Resources]) -> None:
    documented = re.findall(r"--cap-add (\w+)", (ROOT / "docs/security.md").read_text(encoding="utf-8"))
    for agent in AGENTS:
        sealed, other = pod(overlays["bubblewrap"], agent), pod(overlays["container"], agent)
        assert sealed["hostUsers"] is False
        assert (sealed["securityContext"]["runAsUser"], sealed["securityContext"]["runAsNonRoot"]) == (10001, True)
        assert sealed["containers"][0]["securityContext"]["procMount"] == "Unmasked"
        assert other["securityContext"]["runAsUser"] == 0
        assert other["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert sorted(other["containers"][0]["securityContext"]["capabilities"]["add"]) == sorted(documented)
        assert "procMount" not in other["containers"][0]["securityContext"]


def test_the_network_is_closed_but_for_names_https_and_figures(overlays: Mapping[str, Resources]) -> None:
    policies = of(overlays["bubblewrap"], "NetworkPolicy")
    closed, agents = policies["deny-by-default"]["spec"], policies["agents"]["spec"]
    assert closed == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert {port["port"] for rule in agents["ingress"] for port in rule["ports"]} == {9464}
    assert {port["port"] for rule in agents["egress"] for port in rule["ports"]} == {53, 443}
    assert all(rule.get("to") for rule in agents["egress"])
    assert all(rule.get("from") for rule in agents["ingress"])
    assert agents["egress"][0]["to"][0]["podSelector"] == {"matchLabels": {"k8s-app": "kube-dns"}}
    (public,) = [rule["to"][0]["ipBlock"] for rule in agents["egress"] if "ipBlock" in rule["to"][0]]
    assert "169.254.0.0/16" in public["except"]


@pytest.mark.parametrize("agent", AGENTS)
def test_selectors_find_their_pods(overlays: Mapping[str, Resources], agent: str) -> None:
    resources = overlays["bubblewrap"]
    labels = of(resources, "Deployment")[agent]["spec"]["template"]["metadata"]["labels"].items()
    for kind, name, key in (
        ("Deployment", agent, "selector"),
        ("PodDisruptionBudget", agent, "selector"),
        ("NetworkPolicy", "agents", "podSelector"),
        ("NetworkPolicy", "deny-by-default", "podSelector"),
    ):
        wanted = of(resources, kind)[name]["spec"][key].get("matchLabels", {})
        assert wanted.items() <= labels


@pytest.mark.parametrize("agent", AGENTS)
def test_the_documentation_makes_every_secret_that_a_pod_reads(overlays: Mapping[str, Resources], agent: str) -> None:
    found = pod(overlays["bubblewrap"], agent)
    mounted = [volume["secret"]["secretName"] for volume in found["volumes"] if "secret" in volume]
    given = [source["secretRef"]["name"] for source in found["containers"][0]["envFrom"]]
    page = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    assert all(f"create secret generic {name} " in page for name in (*mounted, *given))
    assert mounted == ["workflow-engine-reviewer" if agent == "reviewer" else "workflow-engine-writer"]


def test_workers_are_scaled_on_a_figure_that_agents_tell(overlays: Mapping[str, Resources]) -> None:
    resources = overlays["autoscaled"]
    scaled = of(resources, "ScaledObject")["worker"]["spec"]
    target = of(resources, "Deployment")[scaled["scaleTargetRef"]["name"]]
    (trigger,) = scaled["triggers"]
    query = trigger["metadata"]["query"]
    assert "replicas" not in target["spec"]
    assert 1 <= scaled["minReplicaCount"] < scaled["maxReplicaCount"]
    assert all(isinstance(value, str) for value in trigger["metadata"].values())
    assert {name for name, _ in asked(query)} == {"workflow_engine_queue_depth"}
    (stages,) = re.findall(r'stage=~"([^"]+)"', query)
    assert set(stages.split("|")) <= {str(stage) for stage in Stage}
    assert "workflow_engine_queue_depth" in (ROOT / "docs/observability.md").read_text(encoding="utf-8")


def test_a_mistake_in_a_kustomization_would_be_found(kustomize: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("resorces: [none.yaml]\n", encoding="utf-8")
    assert run(*kustomize, tmp_path).returncode != 0
