"""Requests to objects that exist: changes, evictions, deletions, all as server dry runs, and requests that go wrong."""

from __future__ import annotations

from typing import Any

from differential.corpus import (
    APPLY,
    JSON,
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    Call,
    Object,
    config_map,
    job,
    jobset,
    pod,
    service,
    varied,
)

DRY = {"dryRun": "All"}
NOWHERE = {"nowhere": "at-all"}
POD_OF_SET = "spec.replicatedJobs.1.template.spec.template.spec"


def stored() -> list[tuple[str, Object]]:
    """What must exist before the changes: by resource, in order. Nothing of it finds a node."""
    running_set = {"spec.suspend": False, f"{POD_OF_SET}.nodeSelector": NOWHERE}
    running_set |= {"spec.replicatedJobs.0.template.spec.template.spec.nodeSelector": NOWHERE}
    running_job = {"spec.suspend": False, "spec.template.spec.nodeSelector": NOWHERE}
    indexed = running_job | {"spec.completionMode": "Indexed", "spec.completions": 2, "spec.parallelism": 2}
    return [
        ("jobsets", jobset("held")),
        ("jobsets", varied(jobset("going"), running_set)),
        ("jobs", job("held")),
        ("jobs", varied(job("going"), running_job)),
        ("jobs", varied(job("indexed"), indexed)),
        ("pods", pod("waiting")),
        ("pods", varied(pod("gated"), {"spec.schedulingGates": [{"name": "example.com/gate"}]})),
        ("services", varied(service("plain"), {"spec.selector": {"a": "b"}})),
        ("configmaps", config_map("free")),
        ("configmaps", varied(config_map("frozen"), {"immutable": True})),
    ]


def changes() -> list[Call]:
    """All of them."""
    return [*_jobsets(), *_jobs(), *_pods(), *_others(), *_deletions(), *_wrong()]


def _merge(path: str, patch: Any, name: str = "", content_type: str = MERGE, **query: str) -> Call:
    return Call(f"{name or 'patch'} {path}: {patch}", "PATCH", path, patch, DRY | query, content_type)


def _jobsets() -> list[Call]:
    specs: list[Object] = [
        {"suspend": True},
        {"suspend": False},
        {"ttlSecondsAfterFinished": 5},
        {"ttlSecondsAfterFinished": -5},
        {"managedBy": "example.com/other"},
        {"network": {"subdomain": "other"}},
        {"successPolicy": {"operator": "Any"}},
        {"failurePolicy": {"maxRestarts": 2}},
        {"startupPolicy": {"startupPolicyOrder": "InOrder"}},
        {"coordinator": {"replicatedJob": "worker"}},
        {"coordinator": {"replicatedJob": "nobody"}},
        {"replicatedJobs": []},
        {"replicatedJobs": None},
        {"suspend": "maybe"},
        {"fancy": True},
    ]
    found = [_merge(f"jobsets/{name}", {"spec": spec}) for name in ("held", "going") for spec in specs]
    for name in ("held", "going"):
        path = f"jobsets/{name}"
        found += [
            _json_patch(path, "replace", "/spec/replicatedJobs/1/replicas", 3),
            _json_patch(path, "replace", "/spec/replicatedJobs/1/name", "other"),
            _json_patch(path, "replace", "/spec/replicatedJobs/1/template/spec/parallelism", 1),
            _json_patch(path, "add", "/spec/replicatedJobs/1/template/spec/backoffLimit", 9),
            _json_patch(path, "add", "/spec/replicatedJobs/1/template/spec/template/spec/nodeSelector", {"a": "b"}),
            _json_patch(path, "add", "/spec/replicatedJobs/1/template/spec/template/spec/tolerations", [{"key": "a"}]),
            _json_patch(path, "add", "/spec/replicatedJobs/1/template/spec/template/metadata/labels", {"a": "b"}),
            _json_patch(path, "add", "/spec/replicatedJobs/1/template/metadata", {"labels": {"a": "b"}}),
            _json_patch(path, "replace", "/spec/replicatedJobs/1/template/spec/template/spec/containers/0/image", "x"),
            _json_patch(path, "remove", "/spec/replicatedJobs/0", None),
            _json_patch(path, "remove", "/spec/successPolicy", None),
            _json_patch(path, "remove", "/spec/network", None),
            _json_patch(path, "test", "/spec/suspend", "x"),
            _merge(path, {"spec": {"replicatedJobs": jobset(name)["spec"]["replicatedJobs"]}}, "apply again"),
            _merge(path, {"metadata": {"labels": {"a": "b"}}}),
            _merge(path, {"metadata": {"labels": {"a": "-b-"}}}),
            _merge(path, {"metadata": {"name": "other"}}),
            _merge(path, {"metadata": {"resourceVersion": "1"}}),
            _merge(path, {"metadata": {"uid": "other"}}),
            _merge(path, {"metadata": {"finalizers": ["mine"]}}),
            _merge(path, {"metadata": {"generation": 99, "creationTimestamp": None}}),
            _merge(path, {"status": {"restarts": 5}}),
            _merge(f"{path}/status", {"status": {"restarts": 5}}),
            _merge(f"{path}/status", {"status": {"restarts": "five"}}),
            _merge(f"{path}/status", {"status": {"conditions": [{"type": "Failed"}]}}),
            _merge(path, {"spec": {"suspend": True}}, content_type=STRATEGIC),
            Call(f"PUT {path} without version", "PUT", path, jobset(name), DRY),
        ]
    return found


def _json_patch(path: str, operation: str, pointer: str, value: Any) -> Call:
    step = {"op": operation, "path": pointer} | ({} if value is None else {"value": value})
    return _merge(path, [step], content_type=JSON_PATCH)


def _jobs() -> list[Call]:
    specs: list[Object] = [
        {"suspend": True},
        {"suspend": False},
        {"parallelism": 3},
        {"parallelism": 0},
        {"parallelism": -1},
        {"completions": 3},
        {"completions": 3, "parallelism": 3},
        {"backoffLimit": 99},
        {"backoffLimit": -1},
        {"activeDeadlineSeconds": 100},
        {"ttlSecondsAfterFinished": 100},
        {"completionMode": "NonIndexed"},
        {"completionMode": "Indexed"},
        {"podReplacementPolicy": "Failed"},
        {"managedBy": "example.com/other"},
        {"selector": {"matchLabels": {"a": "b"}}},
        {"manualSelector": True},
        {"podFailurePolicy": {"rules": []}},
        {"template": {"spec": {"nodeSelector": {"a": "b"}}}},
        {"template": {"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}}},
        {"template": {"spec": {"restartPolicy": "OnFailure"}}},
        {"template": {"spec": {"terminationGracePeriodSeconds": 3}}},
        {"template": {"metadata": {"labels": {"a": "b"}}}},
        {"template": {"metadata": {"annotations": {"a": "b"}}}},
        {"fancy": 1},
    ]
    names = ("held", "going", "indexed")
    found = [_merge(f"jobs/{name}", {"spec": spec}) for name in names for spec in specs]
    image = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "other"}]}}}}
    for name in names:
        path = f"jobs/{name}"
        found += [
            _merge(path, image, content_type=STRATEGIC),
            _merge(path, {"metadata": {"labels": {"a": "-b-"}}}),
            _merge(f"{path}/status", {"status": {"active": 7}}),
            _merge(f"{path}/status", {"status": {"ready": 7}}),
            _merge(f"{path}/status", {"status": {"failed": -1}}),
            _merge(f"{path}/status", {"spec": {"parallelism": 5}}),
        ]
    return found


def _pods() -> list[Call]:
    patches: list[Object] = [
        {"metadata": {"labels": {"a": "b"}}},
        {"metadata": {"annotations": {"a": "b"}}},
        {"spec": {"activeDeadlineSeconds": 5}},
        {"spec": {"terminationGracePeriodSeconds": 1}},
        {"spec": {"restartPolicy": "Never"}},
        {"spec": {"nodeSelector": {"a": "b"}}},
        {"spec": {"nodeName": "x"}},
        {"spec": {"tolerations": []}},
        {"spec": {"containers": [{"name": "main", "image": "other"}]}},
        {"spec": {"containers": [{"name": "main", "image": ""}]}},
        {"spec": {"containers": [{"name": "main", "command": ["other"]}]}},
        {"spec": {"containers": [{"name": "second", "image": "other"}]}},
        {"spec": {"schedulingGates": []}},
        {"spec": {"schedulingGates": [{"name": "example.com/other"}]}},
        {"spec": {"hostNetwork": True}},
        {"spec": {"priority": 7}},
        {"spec": {"fancy": True}},
        {"status": {"phase": "Running"}},
    ]
    names = ("waiting", "gated")
    found = [_merge(f"pods/{name}", patch, content_type=STRATEGIC) for name in names for patch in patches]
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "gated"}, "target": {"name": "nowhere"}}
    eviction: Object = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "waiting"}}
    found += [
        Call("bind a gated pod", "POST", "pods/gated/binding", binding, DRY),
        Call("bind no pod", "POST", "pods/nobody/binding", binding, DRY),
        Call("evict", "POST", "pods/waiting/eviction", eviction, DRY),
        Call("evict with options", "POST", "pods/waiting/eviction", eviction | {"deleteOptions": {"dryRun": ["All"]}}),
        Call("evict nobody", "POST", "pods/nobody/eviction", eviction | {"metadata": {"name": "nobody"}}, DRY),
        Call("evict another", "POST", "pods/gated/eviction", eviction, DRY),
        _merge("pods/waiting/status", {"status": {"phase": "Running"}}, content_type=STRATEGIC),
        _merge("pods/waiting/status", {"spec": {"nodeName": "x"}}, content_type=STRATEGIC),
    ]
    return found


def _others() -> list[Call]:
    applied = config_map("applied") | {"data": {"a": "b"}}
    return [
        _merge("configmaps/free", {"data": {"key": "other"}}),
        _merge("configmaps/free", {"data": {"key": None}}),
        _merge("configmaps/free", {"immutable": True}),
        _merge("configmaps/frozen", {"data": {"key": "other"}}),
        _merge("configmaps/frozen", {"immutable": False}),
        _merge("configmaps/frozen", {"metadata": {"labels": {"a": "b"}}}),
        _merge("services/plain", {"spec": {"selector": {"a": "b"}}}),
        _merge("services/plain", {"spec": {"ports": []}}),
        Call("apply a new one", "PATCH", "configmaps/applied", applied, DRY | {"fieldManager": "me"}, APPLY),
        Call("apply without a manager", "PATCH", "configmaps/applied", applied, DRY, APPLY),
        Call(
            "apply over another's",
            "PATCH",
            "configmaps/free",
            config_map("free") | {"data": {"key": "mine"}},
            DRY | {"fieldManager": "me"},
            APPLY,
        ),
        Call("PUT", "PUT", "configmaps/free", config_map("free"), DRY),
        Call("PUT under another name", "PUT", "configmaps/free", config_map("other"), DRY),
        Call("PUT what does not exist", "PUT", "configmaps/nobody", config_map("nobody"), DRY),
        Call("create what exists", "POST", "configmaps", config_map("free"), DRY),
        Call("create a JobSet that exists", "POST", "jobsets", jobset("held"), DRY),
        Call("create a Job that exists", "POST", "jobs", job("held"), DRY),
        Call("create a Job of a JobSet's name", "POST", "jobs", job("held-head-0"), DRY),
    ]


def _deletions() -> list[Call]:
    targets = ("jobsets/held", "jobsets/going", "jobs/held", "jobs/going", "pods/waiting", "configmaps/free")
    options: list[Object] = [
        {},
        {"propagationPolicy": "Background"},
        {"propagationPolicy": "Foreground"},
        {"propagationPolicy": "Orphan"},
        {"propagationPolicy": "Sideways"},
        {"orphanDependents": True},
        {"orphanDependents": False},
        {"orphanDependents": True, "propagationPolicy": "Orphan"},
        {"gracePeriodSeconds": 0},
        {"gracePeriodSeconds": -1},
        {"gracePeriodSeconds": "soon"},
        {"preconditions": {"uid": "other"}},
        {"preconditions": {"resourceVersion": "1"}},
        {"fancy": True},
    ]
    return [
        Call(f"delete {target}: {each}", "DELETE", target, {**each, "dryRun": ["All"]})
        for target in (*targets, "pods/nobody")
        for each in options
    ]


def _wrong() -> list[Call]:
    strict = DRY | {"fieldValidation": "Strict"}
    fancy = varied(jobset(), {"spec.fancy": 1, "spec.replicatedJobs.0.fancy": 2})
    return [
        Call("strict JobSet", "POST", "jobsets", fancy, strict),
        Call("strict Job", "POST", "jobs", varied(job(), {"spec.fancy": 1, "spec.template.fancy": 2}), strict),
        Call("ignored", "POST", "jobs", varied(job(), {"spec.fancy": 1}), DRY | {"fieldValidation": "Ignore"}),
        Call("validation word", "POST", "jobs", job(), DRY | {"fieldValidation": "Maybe"}),
        Call("dry run word", "POST", "jobs", job(), {"dryRun": "Some"}),
        Call("body a list", "POST", "jobs", [1], DRY),
        Call("body a word", "POST", "jobs", "job", DRY),
        Call("patch as JSON", "PATCH", "jobs/held", {"spec": {}}, DRY, JSON),
        Call("patch a list as merge", "PATCH", "jobs/held", [1], DRY, MERGE),
        Call("JSON patch no list", "PATCH", "jobs/held", {"op": "add"}, DRY, JSON_PATCH),
        Call("JSON patch wrong op", "PATCH", "jobs/held", [{"op": "mangle", "path": "/spec"}], DRY, JSON_PATCH),
        Call("JSON patch no such path", "PATCH", "jobs/held", [{"op": "remove", "path": "/a/b"}], DRY, JSON_PATCH),
        Call("patch nobody", "PATCH", "jobs/nobody", {"spec": {}}, DRY, MERGE),
        Call("get nobody", "GET", "jobs/nobody"),
        Call("get a JobSet that is not there", "GET", "jobsets/nobody"),
        Call("unknown subresource", "GET", "jobs/held/fancy"),
        Call("unknown resource", "GET", "fancies"),
        Call("list with a bad selector", "GET", "jobs", query={"labelSelector": "a in"}),
        Call("list with a bad field", "GET", "jobs", query={"fieldSelector": "spec.fancy=1"}),
        Call("list with a field of pods", "GET", "pods", query={"fieldSelector": "status.phase=Running"}),
        Call("list with a bad limit", "GET", "jobs", query={"limit": "many"}),
        Call("list with a bad continue", "GET", "jobs", query={"limit": "1", "continue": "xyz"}),
        Call("log of nobody", "GET", "pods/nobody/log"),
        Call("log of a pod without node", "GET", "pods/waiting/log"),
        Call("log of no container", "GET", "pods/waiting/log", query={"container": "nobody"}),
        Call("log with bad lines", "GET", "pods/waiting/log", query={"tailLines": "-1"}),
        Call("post to an object", "POST", "jobs/held", job("held"), DRY),
    ]
