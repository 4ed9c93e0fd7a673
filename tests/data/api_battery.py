"""Battery of Kubernetes API behaviours that a job launcher relies on, run with the official Python client.

    python api_battery.py (--kubeconfig FILE | URL) [--namespace NS] [--logs] [--allow-501]

Every item holds on a real kube-apiserver with its controllers and JobSet; run it against any server that claims to be
one. No live controller interferes: JobSets and Jobs are suspended, and no node fits the Pods. Works in a namespace of
its own unless one is given, and removes all that it made. Prints PASS, FAIL or SKIP per item and the three counts; exit
code 1 if an item failed. --logs adds the items that need a node which runs `sh`. Needs: kubernetes>=37,<38
"""

# Kept as it came, apart from these three lines, the pod of a watch with bookmarks, and the patience of another
# ruff: noqa: ARG005, BLE001, E501, PT018, RUF017
# fmt: off
import argparse
import json
import sys
import tempfile
import threading
import time
import uuid
import warnings
from typing import Any, NamedTuple

from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient

GROUP, VERSION = "jobset.x-k8s.io", "v1alpha2"
KINDS = {
    "jobsets": (f"{GROUP}/{VERSION}", "JobSet"), "jobs": ("batch/v1", "Job"), "pods": ("v1", "Pod"),
    "services": ("v1", "Service"), "configmaps": ("v1", "ConfigMap"), "events": ("v1", "Event"),
}
JSON, APPLY, JSON_PATCH = "application/json", "application/apply-patch+yaml", "application/json-patch+json"
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
HOLD = "battery.test/hold"  # a finalizer that nobody else removes
ITEMS = []


def item(title, expected=True, needs=None):
    """Registers a function of the cluster that must return the expected value.

    needs is "--logs" or "no --namespace" where the item cannot always run.
    """
    return lambda function: ITEMS.append((title, expected, function, needs)) or function


class Reply(NamedTuple):
    status: int
    body: Any  # parsed JSON, or the text where it is none
    headers: Any

    def ok(self):
        assert self.status in (200, 201), f"{self.status} {str(self.body)[:300]}"
        return self.body

    def error(self):
        """Status code and reason, if the body is a well-formed Status."""
        body = self.body if isinstance(self.body, dict) else {}
        formed = (body.get("kind"), body.get("status"), body.get("code")) == ("Status", "Failure", self.status)
        return self.status, body.get("reason") if formed else f"no Status: {str(self.body)[:200]}"


def content(plural):
    container = {"name": "main", "image": "busybox", "env": [{"name": "A", "value": "1"}]}
    pod = {"nodeSelector": {"battery.test/no-such": "node"}, "restartPolicy": "Never", "containers": [container]}
    job = {"parallelism": 1, "completions": 1, "template": {"spec": pod}}
    worker = {"name": "worker", "replicas": 2, "template": {"spec": job}}
    specs = {"pods": pod, "jobs": {**job, "suspend": True}, "jobsets": {"suspend": True, "replicatedJobs": [worker]},
             "services": {"clusterIP": "None", "ports": [{"name": "a", "port": 80}]}}
    return {"spec": specs[plural]} if plural in specs else {}


class Cluster:
    """The server under test; the names of all objects made here start with this run's prefix."""

    def __init__(self, api, namespace):
        self.api, self.run, self.count = api, f"battery-{uuid.uuid4().hex[:6]}", 0
        self.ns, self.owns_namespace = namespace or self.run, namespace is None
        self.home = f"/api/v1/namespaces/{self.ns}"
        self.core, self.custom = client.CoreV1Api(api), client.CustomObjectsApi(api)
        self.unimplemented = False  # a request of the running item was answered 501

    def send(self, method, path, body=None, kind=JSON, accept=JSON, **query):
        """One raw request, whatever it answers."""
        headers = {"Accept": accept, **({"Content-Type": kind} if body is not None else {})}
        request = self.api.param_serialize(method, path, query_params=list(query.items()), header_params=headers,
                                           body=body, auth_settings=["BearerToken"])
        response = self.api.call_api(*request, _request_timeout=30)
        text = response.read().decode()
        self.unimplemented |= response.status == 501
        try:
            return Reply(response.status, json.loads(text), response.headers)
        except ValueError:
            return Reply(response.status, text, response.headers)

    def path(self, plural, *rest):
        root = self.home if KINDS[plural][0] == "v1" else f"/apis/{KINDS[plural][0]}/namespaces/{self.ns}"
        return "/".join([root, plural, *rest])

    def get(self, *target, **options):
        return self.send("GET", self.path(*target), **options)

    def post(self, plural, body, **options):
        return self.send("POST", self.path(plural), body, **options)

    def put(self, plural, name, body):
        return self.send("PUT", self.path(plural, name), body)

    def patch(self, plural, name, body, kind=MERGE, **options):
        return self.send("PATCH", self.path(plural, name), body, kind, **options)

    def delete(self, plural, name, **options):
        return self.send("DELETE", self.path(plural, name), options or None)

    def gone(self, plural, name):
        return self.get(plural, name).status == 404

    def until_gone(self, plural, name):
        eventually(lambda: self.gone(plural, name), f"{plural}/{name} to go")

    def manifest(self, plural, extra=None, **metadata):
        self.count += 1
        metadata = {"name": f"{self.run}-{self.count}", **metadata}
        return {"apiVersion": KINDS[plural][0], "kind": KINDS[plural][1], "metadata": metadata, **content(plural),
                **(extra or {})}

    def create(self, plural, extra=None, **metadata):
        return self.post(plural, self.manifest(plural, extra, **metadata)).ok()

    def new(self, plural, extra=None, **metadata):
        return self.create(plural, extra, **metadata)["metadata"]["name"]

    def apply(self, plural, manifest, **query):
        return self.patch(plural, manifest["metadata"]["name"], manifest, APPLY, **query)

    def jobset(self, verb, *rest, suffix="", **options):
        """A call of the official client for custom objects."""
        function = getattr(self.custom, f"{verb}_namespaced_custom_object{suffix}")
        return function(GROUP, VERSION, self.ns, "jobsets", *rest, **options)

    def version(self, plural):
        return self.get(plural).ok()["metadata"]["resourceVersion"]

    def watch(self, plural, accept=JSON, seconds=2, **query):
        """All events, as (type, object), of a raw watch, which must end by itself."""
        reply = self.get(plural, accept=accept, watch="true", timeoutSeconds=seconds, **query)
        if reply.status != 200:
            return [("ERROR", reply.body)]
        lines = [reply.body] if isinstance(reply.body, dict) else map(json.loads, reply.body.splitlines())
        return [(line["type"], line["object"]) for line in lines]

    def prepare(self):
        if self.owns_namespace:
            self.core.create_namespace({"metadata": {"name": self.ns}})
        # Pods are refused until the default service account exists
        eventually(lambda: self.post("pods", self.manifest("pods"), dryRun="All").status == 201, "the namespace")

    def sweep(self):
        """Removes what this run left; true when nothing was found."""
        found = [(plural, each["metadata"]) for plural in KINDS for each in self.get(plural).ok()["items"]
                 if each["metadata"]["name"].startswith(self.run)]
        for plural, metadata in found:
            if HOLD in metadata.get("finalizers", []):
                self.patch(plural, metadata["name"], {"metadata": {"finalizers": None}})
            self.delete(plural, metadata["name"], propagationPolicy="Background", gracePeriodSeconds=0)
        return not found

    def clean(self):
        eventually(self.sweep, "an empty namespace")
        if self.owns_namespace:
            self.send("DELETE", self.home)
            eventually(lambda: self.send("GET", self.home).status == 404, "the end of the namespace")


def eventually(check, what):
    end = time.monotonic() + 60
    while not check():
        assert time.monotonic() < end, f"waited 60 s for {what}"
        time.sleep(0.2)


def api_error(call):
    """Status code and reason of a typed call that must fail."""
    try:
        return "accepted", call()
    except ApiException as error:
        return error.status, json.loads(error.body)["reason"]


def follow(function, *args, until, **query):
    """The official Watch, up to the event (type, name, labels) that satisfies until; returns (type, name) pairs."""
    seen, watcher = [], watch.Watch()
    for event in watcher.stream(function, *args, timeout_seconds=8, _request_timeout=(5, 20), **query):
        metadata = event["raw_object"]["metadata"]
        seen.append((event["type"], metadata["name"]))
        if until(*seen[-1], metadata.get("labels")):
            watcher.stop()
            break
    return seen


def named(events):
    return [(kind, each["metadata"].get("name")) for kind, each in events]


def owned_by(thing, **more):
    reference = {"apiVersion": thing["apiVersion"], "kind": thing["kind"], "name": thing["metadata"]["name"]}
    return [{**reference, "uid": thing["metadata"]["uid"], **more}]

# ---- server and discovery

@item("plain discovery: /api, /apis, the resources of a group")
def plain_discovery(c):
    assert "v1" in c.send("GET", "/api").ok()["versions"]
    groups = {each["name"]: each["preferredVersion"]["version"] for each in c.send("GET", "/apis").ok()["groups"]}
    assert groups["batch"] == "v1" and groups[GROUP] == VERSION, groups
    resources = {each["name"]: each for each in c.send("GET", f"/apis/{GROUP}/{VERSION}").ok()["resources"]}
    assert {"create", "deletecollection", "list", "patch", "watch"} <= set(resources["jobsets"]["verbs"]), resources
    found = [resources["jobsets"][key] for key in ("kind", "singularName", "namespaced")]
    return found == ["JobSet", "jobset", True] and "jobsets/status" in resources

@item("aggregated discovery: /api and /apis as APIGroupDiscoveryList v2", ["Namespaced"] * 3)
def aggregated_discovery(c):
    scopes = []
    for path, group, plural in (("/api", "", "pods"), ("/apis", "batch", "jobs"), ("/apis", GROUP, "jobsets")):
        reply = c.send("GET", path, accept=AGGREGATED)
        assert "as=APIGroupDiscoveryList" in reply.headers["Content-Type"], reply.headers["Content-Type"]
        found = next(each for each in reply.ok()["items"] if each["metadata"].get("name", "") == group)
        scopes += [each["scope"] for each in found["versions"][0]["resources"] if each["resource"] == plural]
    return scopes

@item("the dynamic client finds JobSet, Job and Pod", ["jobsets", "jobs", "pods"])
def dynamic_client(c):
    with tempfile.TemporaryDirectory() as folder:
        found = DynamicClient(c.api, cache_file=f"{folder}/cache").resources
        return [found.get(api_version=KINDS[each][0], kind=KINDS[each][1]).name for each in ("jobsets", "jobs", "pods")]

# ---- create and read

@item("create JobSet: metadata and the JobSet defaults are filled", (1, True, "All", "Indexed"))
def create_jobset(c):
    made = c.jobset("create", c.manifest("jobsets"))
    metadata, spec = made["metadata"], made["spec"]
    assert metadata["uid"] and metadata["resourceVersion"].isdigit(), metadata
    time.strptime(metadata["creationTimestamp"], "%Y-%m-%dT%H:%M:%SZ")
    return (metadata["generation"], spec["network"]["enableDNSHostnames"], spec["successPolicy"]["operator"],
            spec["replicatedJobs"][0]["template"]["spec"]["completionMode"])

@item("404 NotFound: message and details name group, kind and object",
      [(404, "NotFound"), f'jobsets.{GROUP} "none" not found', {"name": "none", "group": GROUP, "kind": "jobsets"}])
def not_found(c):
    status = c.get("jobsets", "none").body
    return [api_error(lambda: c.jobset("get", "none")), status["message"], status["details"]]

@item("lists: their kind; only the items of custom objects carry one", [("JobSetList", "JobSet"), ("PodList", None)])
def list_kinds(c):
    made = [(c.new(plural), c.get(plural).ok())[1] for plural in ("jobsets", "pods")]
    assert all(each["metadata"]["resourceVersion"].isdigit() for each in made), made
    return [(each["kind"], each["items"][0].get("kind")) for each in made]

@item("typed client: create, read, list and label a Pod", ("Pending", True, {"z": "1"}))
def typed_pod(c):
    name = c.core.create_namespaced_pod(c.ns, c.manifest("pods")).metadata.name
    names = [pod.metadata.name for pod in c.core.list_namespaced_pod(c.ns).items]
    labelled = c.core.patch_namespaced_pod(name, c.ns, {"metadata": {"labels": {"z": "1"}}})
    return c.core.read_namespaced_pod(name, c.ns).status.phase, name in names, labelled.metadata.labels

@item("unknown fields are dropped with a Warning header", [(201, False, True)] * 2)
def field_warning(c):
    replies = [c.post(plural, c.manifest(plural, {"bogus": 1})) for plural in ("jobsets", "pods")]
    return [(each.status, "bogus" in each.body, "bogus" in each.headers.get("Warning", "")) for each in replies]

@item("dry run: create, patch and delete answer as usual and persist nothing", (True, {"a": "1"}, None))
def dry_run(c):
    name, body = c.new("configmaps"), c.manifest("pods")
    assert c.core.create_namespaced_pod(c.ns, body, dry_run="All").metadata.uid
    patched = c.patch("configmaps", name, {"data": {"a": "1"}}, dryRun="All").ok()["data"]
    c.send("DELETE", c.path("configmaps", name), dryRun="All").ok()
    return c.gone("pods", body["metadata"]["name"]), patched, c.get("configmaps", name).ok().get("data")

# ---- patch, replace, status, apply

@item("merge patch on a custom object: sets what it names, null deletes", [{"keep": "1", "z": "1"}, {"keep": "1"}])
def merge_patch(c):
    name = c.new("jobsets", labels={"keep": "1"})
    made = c.jobset("patch", name, {"metadata": {"labels": {"z": "1"}}, "spec": {"ttlSecondsAfterFinished": 99}})
    assert made["spec"]["ttlSecondsAfterFinished"] == 99 and made["spec"]["replicatedJobs"], made["spec"]
    cleared = c.jobset("patch", name, {"metadata": {"labels": {"z": None}}})
    return [each["metadata"]["labels"] for each in (made, cleared)]

@item("JSON patch: all operations or none", [{"a": "2"}, (422, "Invalid"), {"a": "2"}])
def json_patch(c):
    name, test = c.new("jobsets", labels={"a": "1"}), {"op": "test", "path": "/spec/suspend", "value": True}
    change = {"op": "replace", "path": "/metadata/labels/a", "value": "2"}
    made = c.jobset("patch", name, [test, change], _content_type=JSON_PATCH)
    failed = c.patch("jobsets", name, [{**change, "value": "3"}, {**test, "value": False}], JSON_PATCH)
    return [made["metadata"]["labels"], failed.error(), c.get("jobsets", name).ok()["metadata"]["labels"]]

@item("strategic merge patch merges lists by key and obeys $patch; a merge patch replaces them",
      [{80, 81}, {81}, {82}])
def strategic_merge(c):
    name, seen = c.new("services"), []
    for kind, port in ((STRATEGIC, {"name": "b", "port": 81}), (STRATEGIC, {"port": 80, "$patch": "delete"}),
                       (MERGE, {"name": "c", "port": 82})):
        made = c.patch("services", name, {"spec": {"ports": [port]}}, kind).ok()
        seen.append({each["port"] for each in made["spec"]["ports"]})
    return seen

@item("pods/status: conditions merge by type", {"battery.test/a", "battery.test/b"})
def pod_conditions(c):
    name = c.new("pods")
    for kind in ("battery.test/a", "battery.test/b"):
        body = {"status": {"conditions": [{"type": kind, "status": "True"}]}}
        made = c.patch("pods", f"{name}/status", body, STRATEGIC).ok()
    return {each["type"] for each in made["status"]["conditions"]} - {"PodScheduled"}

@item("status subresource: /status writes status only, the object itself ignores status", [(3, None), (False, 8)])
def status_subresource(c):
    name, ttl = c.new("jobsets"), "ttlSecondsAfterFinished"
    one = c.jobset("patch", name, {"spec": {ttl: 7}, "status": {"restarts": 3}}, suffix="_status")
    two = c.patch("jobsets", name, {"spec": {ttl: 8}, "status": {"restarts": 5}}).ok()
    return [(one["status"]["restarts"], one["spec"].get(ttl)), (two["status"]["restarts"] == 5, two["spec"][ttl])]

@item("resourceVersion: an empty change keeps it, another raises it")
def versions(c):
    made = c.create("configmaps", labels={"a": "1"})
    changes = [c.patch("configmaps", made["metadata"]["name"], {"metadata": {"labels": {"a": n}}}).ok() for n in "12"]
    first, same, later = (int(each["metadata"]["resourceVersion"]) for each in (made, *changes))
    return first == same < later

@item("generation follows the spec, not labels", [1, 2])
def generation(c):
    name, changes = c.new("jobs"), ({"metadata": {"labels": {"a": "1"}}}, {"spec": {"parallelism": 0}})
    return [c.patch("jobs", name, each).ok()["metadata"]["generation"] for each in changes]

@item("PUT: 409 Conflict with a stale resourceVersion, replaces with the current one", [(409, "Conflict"), {"c": "1"}])
def replace(c):
    stale = c.create("jobsets", labels={"a": "1"})
    name = stale["metadata"]["name"]
    c.patch("jobsets", name, {"metadata": {"labels": {"b": "1"}}}).ok()
    refused, reply = api_error(lambda: c.jobset("replace", name, stale)), None
    while reply is None or reply.status == 409:  # a controller may write in between
        body = c.jobset("get", name)
        body["metadata"]["labels"] = {"c": "1"}
        reply = c.put("jobsets", name, body)
    return [refused, c.jobset("get", name)["metadata"]["labels"]]

@item("server-side apply: creates (201), updates (200), records its manager", [(201, ["Apply"]), (200, ["Apply"])])
def apply_jobset(c):
    body = c.manifest("jobsets")
    replies = [c.apply("jobsets", body, fieldManager="battery", force="true") for _ in range(2)]
    return [(each.status, [entry["operation"] for entry in each.body["metadata"]["managedFields"]
                           if entry["manager"] == "battery" and "f:spec" in entry["fieldsV1"]]) for each in replies]

@item("server-side apply takes YAML and removes fields that it no longer names", {"a": "1"})
def apply_removes(c):
    name = c.manifest("configmaps")["metadata"]["name"]
    for data in ('{a: "1", b: "2"}', '{a: "1"}'):
        text = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata: {data}\n"
        made = c.patch("configmaps", name, text, APPLY, fieldManager="battery").ok()
    return made["data"]

@item("server-side apply over another manager's field is 409 FieldManagerConflict; force takes it over",
      [(409, "Conflict"), "FieldManagerConflict", {"a": "2"}])
def apply_conflict(c):
    body = c.manifest("configmaps", {"data": {"a": "1"}})
    c.apply("configmaps", body, fieldManager="one").ok()
    body["data"] = {"a": "2"}
    reply = c.apply("configmaps", body, fieldManager="two")
    forced = c.apply("configmaps", body, fieldManager="two", force="true").ok()["data"]
    return [reply.error(), reply.body["details"]["causes"][0]["reason"], forced]

# ---- lists and watches

SELECTED = {"app=x": 2, "app!=x": 2, "app in (x,y)": 3, "app notin (x, y)": 1, "tier": 3, "!tier": 1, "app==y": 1,
            "tier in (2,3),app!=x": 1, "tier!=1": 3}

@item("labelSelector: =, !=, in, notin, exists, absent", SELECTED)
def label_selectors(c):
    for labels in ({"app": "x", "tier": "1"}, {"app": "x", "tier": "2"}, {"app": "y", "tier": "3"}, {"app": "z"}):
        c.new("pods", labels={"set": c.run, **labels})
    found = {each: c.core.list_namespaced_pod(c.ns, label_selector=f"set={c.run},{each}").items for each in SELECTED}
    return {each: len(pods) for each, pods in found.items()}

PHASES = {"status.phase=Pending": 1, "status.phase!=Pending": 0, "status.phase=Running": 0, "spec.nodeName=": 1,
          "metadata.namespace=default": 0, "metadata.namespace!=default": 1, "metadata.name!=x": 1}

@item("fieldSelector: metadata.name, status.phase, spec.nodeName, and !=; over all namespaces too", (1, PHASES))
def field_selectors(c):
    name, jobset = c.new("pods"), c.new("jobsets")
    found = {each: c.send("GET", "/api/v1/pods", fieldSelector=f"metadata.name={name},{each}").ok() for each in PHASES}
    jobsets = c.jobset("list", field_selector=f"metadata.name={jobset}")["items"]
    return len(jobsets), {each: len(pods["items"]) for each, pods in found.items()}

@item("limit and continue walk a list once, at one resourceVersion", ([2, 2, 1], True, 1))
def paging(c):
    made = sorted(c.new("configmaps", labels={"page": c.run}) for _ in range(5))
    page, seen, versions = None, [], set()
    while page is None or page.metadata._continue:
        more = {"_continue": page.metadata._continue} if page else {}
        page = c.core.list_namespaced_config_map(c.ns, label_selector=f"page={c.run}", limit=2, **more)
        versions.add(page.metadata.resource_version)
        seen.append([each.metadata.name for each in page.items])
        c.new("configmaps", labels={"page": c.run})  # too late to be in this list
    return [len(names) for names in seen], sorted(sum(seen, [])) == made, len(versions)

@item("watch of custom objects: a change made while it is open arrives as MODIFIED")
def live_watch(c):
    name = c.new("jobsets")
    threading.Timer(3, c.patch, ("jobsets", name, {"metadata": {"labels": {"w": "1"}}})).start()
    seen = follow(c.custom.list_namespaced_custom_object, GROUP, VERSION, c.ns, "jobsets",
                  until=lambda kind, _, labels: kind == "MODIFIED" and labels == {"w": "1"})
    return seen[-1] == ("MODIFIED", name)

@item("watch: without resourceVersion ADDED for what exists; from a list's resourceVersion only what came later")
def resumed_watch(c):
    old, since, new = c.new("pods"), c.version("pods"), c.new("pods")
    everything = follow(c.core.list_namespaced_pod, c.ns, until=lambda kind, name, _: name == old)
    later = follow(c.core.list_namespaced_pod, c.ns, resource_version=since, until=lambda kind, name, _: name == new)
    return everything[-1] == ("ADDED", old) and later[-1] == ("ADDED", new) and ("ADDED", old) not in later

@item("watch with labelSelector: entering it is ADDED, leaving it DELETED")
def selected_watch(c):
    since, (a, b) = c.version("configmaps"), (c.new("configmaps", labels={"team": team}) for team in ("in", "out"))
    for name, change in ((a, {"team": "out"}), (b, {"team": "in"}), (b, {"more": "1"})):
        c.patch("configmaps", name, {"metadata": {"labels": change}}).ok()
    seen = named(c.watch("configmaps", resourceVersion=since, labelSelector="team=in"))
    return seen == [("ADDED", a), ("DELETED", a), ("ADDED", b), ("MODIFIED", b)] or seen

@item("watch with fieldSelector: one object; DELETED carries its last state and a newer resourceVersion",
      (["ADDED", "DELETED"], {"a": "1"}, True))
def deleted_event(c):
    since, name = c.version("configmaps"), c.new("configmaps", {"data": {"a": "1"}})
    for each in (c.new("configmaps"), name):
        c.delete("configmaps", each).ok()
    events = c.watch("configmaps", resourceVersion=since, fieldSelector=f"metadata.name={name}")
    numbers = [int(each["metadata"]["resourceVersion"]) for _, each in events]
    return [kind for kind, _ in events], events[-1][1]["data"], numbers[0] < numbers[-1]

@item("watch ends by itself after timeoutSeconds")
def watch_timeout(c):
    start = time.monotonic()
    list(watch.Watch().stream(c.core.list_namespaced_pod, c.ns, timeout_seconds=1, _request_timeout=(5, 20)))
    return 0.8 < time.monotonic() - start < 4

@item("watch with allowWatchBookmarks: a BOOKMARK with kind and resourceVersion before the end", ("Pod", None, True))
def bookmarks(c):
    # Not before the watch: kube-apiserver sends no bookmark that is no newer than what the watch began with
    # (kubernetes 1.35 and 1.37, apiserver/pkg/storage/cacher/cache_watcher.go, process)
    threading.Timer(2, c.create, ("pods",)).start()
    events = c.watch("pods", seconds=6, resourceVersion=c.version("pods"), allowWatchBookmarks="true")
    made = next(each for kind, each in events if kind == "ADDED")
    mark = [each for kind, each in events if kind == "BOOKMARK"][-1]
    newer = int(mark["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"])
    return mark["kind"], mark["metadata"].get("name"), newer

@item("watch with sendInitialEvents: the state, then a BOOKMARK that ends it; or 422 where it is not offered")
def streaming_list(c):
    name = c.new("pods")
    events = c.watch("pods", sendInitialEvents="true", resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true")
    if events[0][0] == "ERROR":
        return events[0][1]["code"] == 422
    ends = [each["metadata"].get("annotations", {}).get("k8s.io/initial-events-end") for _, each in events]
    end = ends.index("true")
    return events[end][0] == "BOOKMARK" and ("ADDED", name) in named(events[:end])

@item("watch from resourceVersion 1 works, or says 410 Expired", set())
def old_watch(c):
    errors = [each for kind, each in c.watch("pods", seconds=1, resourceVersion=1) if kind == "ERROR"]
    return {(each["code"], each["reason"]) for each in errors} - {(410, "Expired")}

# ---- deletion and garbage collection

@item("finalizer: a deleted object stays with deletionTimestamp, takes no new finalizer, ends with its last one",
      [True, (422, "Invalid"), True])
def finalizer(c):
    name = c.new("jobsets", finalizers=[HOLD])
    c.jobset("delete", name)
    stays = "deletionTimestamp" in c.jobset("get", name)["metadata"]
    more = c.patch("jobsets", name, {"metadata": {"finalizers": [HOLD, "battery.test/more"]}})
    c.patch("jobsets", name, {"metadata": {"finalizers": []}}).ok()
    return [stays, more.error(), c.gone("jobsets", name)]

@item("delete answers: Status Success with uid for custom objects, the object for Pods; then 404",
      [True, True, (404, "NotFound")])
def delete_answers(c):
    made, pod = c.create("jobsets"), c.new("pods")
    status = c.delete("jobsets", made["metadata"]["name"]).ok()
    same = c.core.delete_namespaced_pod(pod, c.ns, grace_period_seconds=0).metadata.name == pod
    success = status["status"] == "Success" and status["details"]["uid"] == made["metadata"]["uid"]
    return [success, same, api_error(lambda: c.core.delete_namespaced_pod(pod, c.ns))]

@item("a Pod on a node waits for its kubelet with deletionTimestamp and grace period; grace 0 removes it",
      [20, 20, True])
def graceful_deletion(c):
    body = c.manifest("pods")
    body["spec"].update(nodeName="battery-none", terminationGracePeriodSeconds=20)
    name = c.post("pods", body).ok()["metadata"]["name"]
    deleted = [reply.ok()["metadata"] for reply in (c.delete("pods", name), c.get("pods", name))]
    periods = [each["deletionTimestamp"] and each["deletionGracePeriodSeconds"] for each in deleted]
    c.delete("pods", name, gracePeriodSeconds=0).ok()
    return [*periods, c.gone("pods", name)]

@item("deletecollection removes what the selector names and no more", (True, False))
def delete_collection(c):
    a, b = (c.new("pods", labels={"drop": value}) for value in ("yes", "no"))
    c.core.delete_collection_namespaced_pod(c.ns, label_selector="drop=yes")
    return c.gone("pods", a), c.gone("pods", b)

@item("garbage collection, background: the owner goes at once, its dependents follow")
def background(c):
    parent = c.create("jobsets")
    name, child = parent["metadata"]["name"], c.new("pods", ownerReferences=owned_by(parent, controller=True))
    c.delete("jobsets", name, propagationPolicy="Background").ok()
    assert c.gone("jobsets", name)
    c.until_gone("pods", child)
    return True

@item("garbage collection, foreground: the owner waits for its dependents", (["foregroundDeletion"], False))
def foreground(c):
    parent = c.create("configmaps")
    name = parent["metadata"]["name"]
    child = c.new("configmaps", finalizers=[HOLD], ownerReferences=owned_by(parent, blockOwnerDeletion=True))
    deleted = c.delete("configmaps", name, propagationPolicy="Foreground").ok()["metadata"]
    eventually(lambda: "deletionTimestamp" in c.get("configmaps", child).ok()["metadata"], "deletion of the dependent")
    early = c.gone("configmaps", name)
    c.patch("configmaps", child, {"metadata": {"finalizers": None}}).ok()
    c.until_gone("configmaps", name)
    return deleted["finalizers"], early

@item("garbage collection, orphan: dependents stay and lose the reference; the default for batch/v1 Jobs",
      [None, None])
def orphan(c):
    references = []
    for plural, options in (("configmaps", {"propagationPolicy": "Orphan"}), ("jobs", {})):
        parent = c.create(plural)
        name, child = parent["metadata"]["name"], c.new("pods", ownerReferences=owned_by(parent))
        c.delete(plural, name, **options).ok()
        c.until_gone(plural, name)
        references.append(c.get("pods", child).ok()["metadata"].get("ownerReferences"))
    return references

# ---- tables, events, eviction, logs

COLUMNS = {"pods": "Name Ready Status Restarts Age", "jobs": "Name Status Completions Duration Age",
           "jobsets": "Name TerminalState Restarts Completed Suspended Age"}

@item("Table of Pods, Jobs and JobSets: the columns that kubectl get prints, one row per object", COLUMNS)
def tables(c):
    accept, seen = f"{TABLE},{TABLE.replace('v=v1', 'v=v1beta1')},application/json", {}  # as kubectl asks
    for plural in COLUMNS:
        name = c.new(plural)
        one = c.get(plural, name, accept=accept).ok()
        few = c.get(plural, accept=accept, fieldSelector=f"metadata.name={name}").ok()
        assert one["kind"] == "Table" and few["metadata"]["resourceVersion"].isdigit(), (one, few)
        assert [row["cells"][0] for row in one["rows"] + few["rows"]] == [name, name], (one, few)
        seen[plural] = " ".join(each["name"] for each in few["columnDefinitions"] if each["priority"] == 0)
    return seen

@item("Table rows: a waiting Pod is 0/1 Pending 0; includeObject Metadata (the default), Object and None",
      [(["0/1", "Pending", "0"], kind) for kind in ("PartialObjectMetadata", "PartialObjectMetadata", "Pod", None)])
def table_rows(c):
    name, queries = c.new("pods"), [{}, *({"includeObject": each} for each in ("Metadata", "Object", "None"))]
    rows = [c.get("pods", name, accept=TABLE, **query).ok()["rows"][0] for query in queries]
    return [(row["cells"][1:4], (row.get("object") or {}).get("kind")) for row in rows]

@item("Table in a watch: one row per event, column definitions in the first only", [(1, True), (1, False)])
def table_watch(c):
    since, _ = c.version("configmaps"), [c.new("configmaps") for _ in range(2)]
    events = c.watch("configmaps", TABLE, resourceVersion=since)
    return [(len(each["rows"]), bool(each.get("columnDefinitions"))) for _, each in events]

@item("an Event of core v1 is the same in events.k8s.io, and both select by object", [("hello", 2), ("hello", 2)])
def events(c):
    about, moment = c.new("pods"), "2026-01-01T00:00:00Z"
    c.new("events", {"involvedObject": {"kind": "Pod", "name": about, "namespace": c.ns}, "type": "Normal",
                     "reason": "Battery", "message": "hello", "count": 2, "firstTimestamp": moment})
    core = c.core.list_namespaced_event(c.ns, field_selector=f"involvedObject.name={about},reason=Battery").items
    # raw, because the typed client refuses an Event without eventTime
    new = c.send("GET", f"/apis/events.k8s.io/v1/namespaces/{c.ns}/events",
                 fieldSelector=f"regarding.name={about},reason=Battery").ok()["items"]
    return [(one.message, one.count) for one in core] + [(one["note"], one["deprecatedCount"]) for one in new]

@item("pods/eviction: a Pod without node is gone")
def eviction(c):
    name = c.new("pods")
    c.core.create_namespaced_pod_eviction(name, c.ns, {"metadata": {"name": name, "namespace": c.ns}})
    return c.gone("pods", name)


def talking_pod(c):
    """A running Pod that writes five lines in 1.5 s and lives on."""
    script = "i=0; while [ $i -lt 5 ]; do echo line $i; i=$((i+1)); sleep 0.3; done; sleep 300"
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "main", "image": "busybox", "command": ["sh", "-c", script]}]}
    name = c.new("pods", {"spec": spec})
    eventually(lambda: c.get("pods", name).ok()["status"]["phase"] == "Running", "the Pod to run")
    return name

@item("logs: follow streams the lines as they come", [f"line {i}" for i in range(5)], "--logs")
def follow_logs(c):
    lines, watcher = [], watch.Watch()
    for line in watcher.stream(c.core.read_namespaced_pod_log, talking_pod(c), c.ns, _request_timeout=(5, 30)):
        lines.append(line)
        if len(lines) == 5:
            watcher.stop()
            break
    return lines

@item("logs: text/plain; tailLines, limitBytes, sinceTime, and timestamps in RFC 3339",
      ("text/plain", "line 3\nline 4\n", "line 0", "", 5), "--logs")
def log_options(c):
    pod = talking_pod(c)

    def read(**query):
        return c.get("pods", pod, "log", accept="*/*", **query)

    eventually(lambda: len(read().ok().splitlines()) == 5, "five lines")
    stamped = read(timestamps="true", sinceTime="2000-01-01T00:00:00Z").ok().splitlines()
    times = [time.strptime(line.split(".")[0], "%Y-%m-%dT%H:%M:%S") for line in stamped]
    return (read().headers["Content-Type"].split(";")[0], read(container="main", tailLines=2).ok(),
            read(limitBytes=6).ok(), read(sinceTime="2100-01-01T00:00:00Z").ok(), len(times))

# ---- one request each: what it is, what must come, how it is seen

LABEL = {"metadata": {"labels": {"a": "1"}}}
ENV = {"spec": {"containers": [{"name": "main", "env": [{"name": "B", "value": "2"}]}]}}
NO_TEMPLATE = {"spec": {"replicatedJobs": [{"name": "worker", "template": {"spec": {}}}]}}
REPLICAS = [{"op": "replace", "path": "/spec/replicatedJobs/0/replicas", "value": 3}]

DOCUMENTS = {"api/v1", "apis/batch/v1", f"apis/{GROUP}/{VERSION}"}

SHORT = [
    ("GET /version names the version", "v", lambda c: client.VersionApi(c.api).get_code().git_version[0]),
    ("GET /readyz says ok", "ok", lambda c: c.send("GET", "/readyz", accept="*/*").ok()),
    ("/openapi/v3 lists core, batch and JobSet", DOCUMENTS,
     lambda c: DOCUMENTS & c.send("GET", "/openapi/v3").ok()["paths"].keys()),
    ("an API group that is not installed is 404", 404, lambda c: c.send("GET", "/apis/battery.test/v1").status),
    ("namespaces: Active, and labelled with their name", "Active", lambda c: c.core.list_namespace(
        label_selector=f"kubernetes.io/metadata.name={c.ns}").items[0].status.phase),
    ("a status sent on create is dropped: JobSet", None,
     lambda c: c.create("jobsets", {"status": {"restarts": 9}}).get("status", {}).get("restarts")),
    ("a status sent on create is dropped: Pod", "Pending",
     lambda c: c.create("pods", {"status": {"phase": "Failed"}})["status"]["phase"]),
    ("generateName appends five characters", 5,
     lambda c: len(c.new("pods", name=None, generateName=f"{c.run}-")) - len(f"{c.run}-")),
    ("PUT of a core object needs no resourceVersion", 200,
     lambda c: c.put("configmaps", name := c.new("configmaps"), c.manifest("configmaps", name=name)).status),
    ("PartialObjectMetadataList on request", "PartialObjectMetadataList",
     lambda c: c.get("pods", accept=PARTIAL).ok()["kind"]),
    ("logs of a Pod without node are empty", "", lambda c: c.get("pods", c.new("pods"), "log").body),
]

REFUSED = [
    ("a second create", (409, "AlreadyExists"),
     lambda c: c.post("jobsets", c.manifest("jobsets", name=c.new("jobsets")))),
    ("create without any name", (422, "Invalid"), lambda c: c.post("jobsets", c.manifest("jobsets", name=None))),
    ("create with a malformed name", (422, "Invalid"), lambda c: c.post("pods", c.manifest("pods", name=f"{c.run}_x"))),
    ("a JobSet without pod template", (422, "Invalid"),
     lambda c: c.post("jobsets", c.manifest("jobsets", NO_TEMPLATE))),
    ("create with another namespace in the body", (400, "BadRequest"),
     lambda c: c.post("pods", c.manifest("pods", namespace="other"))),
    ("create in a missing namespace", (404, "NotFound"),
     lambda c: c.send("POST", f"/api/v1/namespaces/{c.run}-none/configmaps", c.manifest("configmaps"))),
    ("an unknown field with fieldValidation=Strict", (400, "BadRequest"),
     lambda c: c.post("jobsets", c.manifest("jobsets", {"bogus": 1}), fieldValidation="Strict")),
    ("an unknown resource of a known group", (404, "NotFound"), lambda c: c.send("GET", f"{c.home}/bogus")),
    ("PUT of a custom object without resourceVersion", (422, "Invalid"),
     lambda c: c.put("jobsets", name := c.new("jobsets"), c.manifest("jobsets", name=name))),
    ("patch that names a stale resourceVersion", (409, "Conflict"),
     lambda c: c.patch("configmaps", c.new("configmaps"), {"metadata": {"resourceVersion": "1"}})),
    ("strategic merge patch on a custom object", (415, "UnsupportedMediaType"),
     lambda c: c.patch("jobsets", c.new("jobsets"), LABEL, STRATEGIC)),
    ("patch of a missing object", (404, "NotFound"), lambda c: c.patch("jobsets", "none", LABEL)),
    ("change of a Pod's environment", (422, "Invalid"), lambda c: c.patch("pods", c.new("pods"), ENV, STRATEGIC)),
    ("change of a JobSet's replicas", (422, "Invalid"),
     lambda c: c.patch("jobsets", c.new("jobsets"), REPLICAS, JSON_PATCH)),
    ("server-side apply without fieldManager", (422, "Invalid"), lambda c: c.apply("pods", c.manifest("pods"))),
    ("labelSelector that does not parse", (400, "BadRequest"), lambda c: c.get("pods", labelSelector="a in (")),
    ("fieldSelector on an unsupported field", (400, "BadRequest"),
     lambda c: c.get("pods", fieldSelector="spec.bogus=1")),
    ("fieldSelector on a field of a JobSet", (400, "BadRequest"),
     lambda c: c.get("jobsets", fieldSelector="spec.suspend=true")),
    ("list at a resourceVersion of the future", (504, "Timeout"),
     lambda c: c.get("pods", resourceVersion="9" * 15, resourceVersionMatch="NotOlderThan")),
    ("list at a resourceVersion that is no number", (400, "BadRequest"), lambda c: c.get("pods", resourceVersion="x")),
    ("list with a foreign continue token", (400, "BadRequest"), lambda c: c.get("pods", limit=1, **{"continue": "x"})),
    ("delete of a missing object", (404, "NotFound"), lambda c: c.delete("jobsets", "none")),
    ("delete with another uid as precondition", (409, "Conflict"),
     lambda c: c.delete("configmaps", c.new("configmaps"), preconditions={"uid": "other"})),
    ("a media type that is not offered", (406, "NotAcceptable"), lambda c: c.get("pods", accept="application/xml")),
    ("Table with an unknown includeObject", (400, "BadRequest"),
     lambda c: c.get("pods", accept=TABLE, includeObject="x")),
    ("logs of a container that the Pod has not", (400, "BadRequest"),
     lambda c: c.get("pods", c.new("pods"), "log", container="x")),
    ("logs of a missing Pod", (404, "NotFound"), lambda c: c.get("pods", "none", "log")),
]


for short, answer, look in SHORT:
    item(short, answer)(look)
for short, answer, ask in REFUSED:
    item(f"refused with {answer[0]} {answer[1]}: {short}", answer)(lambda c, ask=ask: ask(c).error())

@item("a namespace in deletion is Terminating, refuses creation and goes with its content",
      ["Terminating", (403, "Forbidden"), "NamespaceTerminating"], "no --namespace")
def namespace_deletion(c):  # the last item, because the namespace goes
    name = c.new("configmaps", finalizers=[HOLD])
    c.core.delete_namespace(c.ns)
    phase, refused = c.core.read_namespace(c.ns).status.phase, c.post("configmaps", c.manifest("configmaps"))
    c.patch("configmaps", name, {"metadata": {"finalizers": None}}).ok()
    eventually(lambda: c.send("GET", c.home).status == 404, "the namespace to go")
    return [phase, refused.error(), refused.body["details"]["causes"][0]["reason"]]

# ---- running

def outcome(c, logs, allow_501, title, expected, function, needs):
    """Runs one item, prints its line and returns PASS, FAIL or SKIP."""
    word, remark, c.unimplemented = "FAIL", "", False
    if needs and not {"--logs": logs, "no --namespace": c.owns_namespace}[needs]:
        word, remark = "SKIP", f"needs {needs}"
    else:
        try:
            found = function(c)
            word = "PASS" if found == expected else "FAIL"
            remark = "" if found == expected else f"got {found!r:.300}, expected {expected!r:.200}"
        except Exception as error:  # whatever goes wrong is this item's failure
            c.unimplemented |= getattr(error, "status", None) == 501
            remark = f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"
    if word == "FAIL" and allow_501 and c.unimplemented:
        word, remark = "SKIP", "answered 501"
    print(f"{word} {title}" + (f"   -> {remark}" if remark else ""), flush=True)
    return word


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    server = parser.add_mutually_exclusive_group(required=True)
    server.add_argument("url", nargs="?", help="address of the server, with its path prefix if it has one")
    server.add_argument("--kubeconfig", metavar="FILE", help="the server and the credentials")
    parser.add_argument("--namespace", metavar="NS", help="work in this namespace instead of a new one")
    parser.add_argument("--logs", action="store_true", help="also run the items that need a node that runs `sh`")
    parser.add_argument("--allow-501", action="store_true", help="count an item whose request is answered 501 as skipped")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="Unverified HTTPS request")
    if options.kubeconfig:
        api = config.new_client_from_config(options.kubeconfig)
    else:
        api = client.ApiClient(client.Configuration(host=options.url.rstrip("/")))
    cluster, words = Cluster(api, options.namespace), []
    try:
        cluster.prepare()
        words = [outcome(cluster, options.logs, options.allow_501, *each) for each in ITEMS]
    finally:
        cluster.clean()
    print(f"{words.count('PASS')} passed, {words.count('FAIL')} failed, {words.count('SKIP')} skipped")
    return 1 if "FAIL" in words else 0


if __name__ == "__main__":
    sys.exit(main())
