"""What is shipped in deploy/: it fits its schemas, and its settings, ports and figures exist."""

import copy
import re
import subprocess
import sys
from pathlib import Path

import click
import himeji
import jsonschema
import kubernetes_validate
import pytest
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema
from himeji_server import metrics
from himeji_server.launch.cli import serve
from himeji_server.rpc.readiness import ALIVE

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
MANIFESTS = {
    f"{path.name} {each['kind']}": each
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for each in yaml.safe_load_all(path.read_text())
}
POD = MANIFESTS["arena.yaml Deployment"]["spec"]["template"]["spec"]
DOOR = dict(
    re.findall(
        r"bind :(\d+)\n  server \w+ 127\.0\.0\.1:(\d+)", (DEPLOY / "haproxy/proxy.cfg").read_text()
    )
)
"""The ports of the proxy, each with the port of the arena behind it."""

VERSIONS = ("1.30", kubernetes_validate.latest_version())
"""The oldest Kubernetes that is promised, and the newest that is known."""

IMAGE = f"himeji:{himeji.__version__}"


def arena_of_the_pod():
    (arena,) = POD["containers"]
    return arena


def settings():
    """How each way to deploy sets the arena: the words of the command, and the environment."""
    service, pod = COMPOSE["services"]["arena"], arena_of_the_pod()
    environment = {each["name"]: each.get("value", "redis://given") for each in pod["env"]}
    image = dict(re.findall(r"\b(HIMEJI_\w+)=(\S+)", DOCKERFILE))
    return {
        "Dockerfile": (["serve"], image),
        "compose": (service["command"], image | service["environment"]),
        "Kubernetes": (pod["args"], image | environment),
    }


def lint(text):
    hadolint = Path(sys.executable).parent / "hadolint"
    return subprocess.run([hadolint, "-"], input=text, text=True, capture_output=True, check=False)


def changed(document, path, value):
    """A copy in which one thing is another."""
    document = copy.deepcopy(document)
    *way, last = path
    inner = document
    for step in way:
        inner = inner[step]
    inner[last] = value
    return document


# --- schemas ------------------------------------------------------------------------------------


def test_the_dockerfile_is_linted():
    assert lint(DOCKERFILE).stdout == ""


@pytest.mark.parametrize(
    ("right", "wrong", "rule"),
    [
        ("FROM python:3.11-slim-bookworm", "FROM python", "DL3006"),
        ("WORKDIR /src", "WORKDIR src", "DL3000"),
        ("USER 10001", "USER root", "DL3002"),
        (' CMD ["himeji", "health"]', ' CMD ["himeji", "health"', "DL3025"),
    ],
)
def test_the_linter_sees_a_mistake_in_the_dockerfile(right, wrong, rule):
    assert right in DOCKERFILE
    found = lint(DOCKERFILE.replace(right, wrong))
    assert found.returncode != 0
    assert rule in found.stdout + found.stderr


def check_compose(document):
    jsonschema.Draft202012Validator(get_builtin_schema("vendor.compose-spec")).validate(document)


def test_the_compose_file_fits_the_specification():
    check_compose(COMPOSE)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("services", "arena", "port"), ["127.0.0.1:50051:50050"]),
        (("services", "redis", "healthcheck", "retries"), ["many"]),
        (("services", "arena", "depends_on", "redis", "condition"), "service_awake"),
        (("services", "proxy", "read_only"), {"really": True}),
    ],
    ids=lambda each: ".".join(each) if isinstance(each, tuple) else "",
)
def test_a_mistake_in_the_compose_file_is_seen(path, value):
    with pytest.raises(jsonschema.ValidationError):
        check_compose(changed(COMPOSE, path, value))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_fits_the_schema_of_kubernetes(name, version):
    kubernetes_validate.validate(MANIFESTS[name], version, strict=True)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("arena.yaml Deployment", ("spec", "template", "spec", "graceSeconds"), 60),
        ("arena.yaml Deployment", ("spec", "strategy", "rollingUpdate", "maxSurge"), []),
        ("service.yaml Service", ("spec", "ports", 0, "port"), "fifty"),
        ("disruption.yaml PodDisruptionBudget", ("spec", "selector"), "arena"),
        ("autoscaling.yaml HorizontalPodAutoscaler", ("spec", "maxReplicas"), "sixty"),
        ("autoscaling.yaml HorizontalPodAutoscaler", ("spec", "metrics", 0, "pod"), {}),
    ],
    ids=lambda each: ".".join(map(str, each)) if isinstance(each, tuple) else "",
)
def test_a_mistake_in_a_manifest_is_seen(name, path, value):
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(
            changed(MANIFESTS[name], path, value), VERSIONS[0], strict=True
        )


# --- settings, ports and figures ----------------------------------------------------------------


@pytest.mark.parametrize("way", settings())
def test_every_setting_is_one_of_the_arena_and_has_a_value_it_takes(way, monkeypatch):
    (command, *options), environment = settings()[way]
    known = {each.envvar for each in serve.params if isinstance(each, click.Option)}
    assert command == serve.name
    assert environment.keys() <= known
    for variable in known:
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    given = serve.make_context("serve", list(options)).params
    assert (given["log_format"], given["data"]) == ("json", Path("/data"))


@pytest.mark.parametrize("way", ["compose", "Kubernetes"])
def test_the_proxy_leads_to_the_ports_of_the_arena(way):
    _, environment = settings()[way]
    ports = ("HIMEJI_PORT", "HIMEJI_HTTP_PORT", "HIMEJI_METRICS_PORT")
    assert sorted(DOOR.values()) == sorted(environment[port] for port in ports)


def test_compose_publishes_ports_of_the_proxy_on_this_machine_alone():
    proxy = COMPOSE["services"]["proxy"]
    assert proxy["network_mode"] == "service:arena"
    published = [each.split(":") for each in COMPOSE["services"]["arena"]["ports"]]
    assert {host for host, _, _ in published} == {"127.0.0.1"}
    assert {inside for _, _, inside in published} <= DOOR.keys()
    assert {name for name, each in COMPOSE["services"].items() if "ports" in each} == {"arena"}


def test_only_the_arena_is_in_the_network_of_redis_and_nothing_has_a_password():
    assert COMPOSE["networks"]["store"] == {"internal": True}
    assert COMPOSE["services"]["redis"]["networks"] == ["store"]
    text = yaml.safe_dump(COMPOSE)
    assert not re.search(r"requirepass|PASSWORD|redis://[^/]*@", text, re.IGNORECASE)


def test_kubernetes_asks_for_ports_and_health_that_there_are():
    (proxy,) = POD["initContainers"]
    ports = {each["name"]: str(each["containerPort"]) for each in proxy["ports"]}
    assert set(ports.values()) <= DOOR.keys()
    arena = arena_of_the_pod()
    probes = [arena[kind]["grpc"] for kind in ("startupProbe", "livenessProbe", "readinessProbe")]
    assert {str(probe["port"]) for probe in probes} == {ports["grpc"]}
    assert [probe.get("service") for probe in probes] == [ALIVE, ALIVE, None]
    (port,) = MANIFESTS["service.yaml Service"]["spec"]["ports"]
    assert port["targetPort"] in ports
    notes = MANIFESTS["arena.yaml Deployment"]["spec"]["template"]["metadata"]["annotations"]
    assert notes["prometheus.io/port"] == ports["metrics"]


def test_what_selects_arenas_selects_the_pods_of_the_deployment():
    deployment = MANIFESTS["arena.yaml Deployment"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    assert MANIFESTS["service.yaml Service"]["spec"]["selector"] == labels
    budget = MANIFESTS["disruption.yaml PodDisruptionBudget"]
    assert budget["spec"]["selector"]["matchLabels"] == labels
    scaled = MANIFESTS["autoscaling.yaml HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
    assert (scaled["kind"], scaled["name"]) == ("Deployment", deployment["metadata"]["name"])


def test_the_autoscaler_goes_by_a_figure_that_arenas_export():
    exported = {each.name for each in metrics.REGISTRY.collect()}
    asked = MANIFESTS["autoscaling.yaml HorizontalPodAutoscaler"]["spec"]["metrics"]
    figures = {each["pods"]["metric"]["name"] for each in asked if each["type"] == "Pods"}
    assert figures
    assert figures <= exported


def test_the_image_is_the_same_everywhere_and_so_is_its_user():
    assert f"-t {IMAGE} " in DOCKERFILE
    assert COMPOSE["services"]["arena"]["image"] == arena_of_the_pod()["image"] == IMAGE
    (user,) = re.findall(r"^USER (\d+)$", DOCKERFILE, re.MULTILINE)
    assert POD["securityContext"]["runAsUser"] == int(user) != 0


def test_what_the_image_is_made_of_is_there_and_is_sent_to_the_builder():
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    sent = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert sorted(names) == sorted(sent)
    assert all((ROOT / name).exists() for name in names)


def test_a_ranked_arena_takes_the_redis_of_the_compose_file(start_redis, start_arena):
    server, *options = COMPOSE["services"]["redis"]["command"]
    assert server == "redis-server"
    redis = start_redis(*options)
    arena = start_arena("--port", "0", "--redis", redis.url, "--ranked").opened()
    assert arena.stop() == 0
