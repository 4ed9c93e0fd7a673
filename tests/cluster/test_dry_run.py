"""A dry run on the server: all refusals, all warnings, nothing stored; through what may happen on the way."""

import copy

import pytest
from fakes.api import status_error
from fakes.clock import FakeClock
from fakes.cluster import reference_jobset
from fakes.store import LOST, StoreApi

from xlaunch.cluster.api import ApiError
from xlaunch.cluster.dry_run import TELLING, DryRun
from xlaunch.cluster.verdicts import PlanRefusedError, Refusal
from xlaunch.core.errors import NetworkError, NotFoundError, RefusedError
from xlaunch.core.plan import finished

ALL = [
    "JobSet demo-elastic",
    "Job demo-elastic-pathways-head-0",
    "Pod demo-elastic-pathways-head-0-0",
    "Job demo-elastic-worker-0",
    "Job demo-elastic-worker-1",
    "Job demo-elastic-worker-2",
    "Pod demo-elastic-worker-2-3",
]
HEAD, SLICES, WORKER_POD = ALL[1:3], ALL[3:6], ALL[6]
JOBS = [HEAD[0], *SLICES]
PATH = "/apis/batch/v1/namespaces/default/jobs"
INVALID = status_error(422, "Invalid", 'spec.volumes: Not found: "scratch"')
QUOTA = status_error(403, "Forbidden", "exceeded quota: team, requested: cpu=24, used: cpu=90, limited: cpu=96")
BUSY = status_error(429, "TooManyRequests", "slow down")


@pytest.fixture
def api():
    return StoreApi(FakeClock())


def plan(slices=3, **metadata):
    made = reference_jobset()
    made["metadata"] |= {"namespace": "default", **metadata}
    made["spec"]["replicatedJobs"][1]["replicas"] = slices
    return finished(made)


def dry_run(api, made=None, timeout=60.0, notices=None):
    notices = [] if notices is None else notices
    return DryRun(api, made or plan(), clock=api.clock, timeout=timeout, notice=notices.append)


def kinds(report):
    return [f"{each.kind} {each.name}" for each in report.refusals]


def test_all_kinds_of_objects_are_asked_for_and_nothing_is_stored(api):
    report = dry_run(api).report()
    assert (report.accepted, report.refusals, report.left_out, report.warnings) == (ALL, [], {}, {})
    assert api.objects == {}
    posts = [call for call in api.calls if call.method == "POST"]
    assert len(posts) == 7
    assert all(
        call.query == {"dryRun": "All", "fieldManager": "xlaunch", "fieldValidation": "Strict"} for call in posts
    )
    assert [call.path.rpartition("/")[2] for call in posts] == ["jobsets", "jobs", "pods", *["jobs"] * 3, "pods"]


def test_the_jobset_is_sent_as_it_would_be_submitted(api):
    dry_run(api).report()
    sent = next(call.body for call in api.calls if call.method == "POST")
    assert sent["metadata"]["annotations"].keys() >= {"xlaunch.dev/plan-hash", "xlaunch.dev/version"}


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ({"JobSet": INVALID}, ALL[:1]),
        ({"Job": INVALID}, JOBS),
        ({"Pod": QUOTA}, [HEAD[1], WORKER_POD]),
        ({"JobSet": QUOTA, "Job": INVALID, "Pod": QUOTA}, ALL),
        # What is invalid in the Job is so in its pod: told once
        ({"Job": INVALID, "Pod": INVALID}, JOBS),
        ({"Job": QUOTA, "Pod": INVALID}, ALL[1:]),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else None,
)
def test_all_refusals_are_told_not_only_the_first(api, verdicts, expected):
    api.verdicts = verdicts
    assert kinds(dry_run(api).report()) == expected


def test_a_refusal_has_the_servers_own_words(api):
    api.verdicts = {"JobSet": INVALID}
    assert dry_run(api).report().refusals == [Refusal("JobSet", "demo-elastic", "Invalid", INVALID.message)]


def test_warnings_are_told_once_with_all_that_they_are_about(api):
    api.cautions = {"Job": ["would violate PodSecurity"], "Pod": ["would violate PodSecurity", "old field"]}
    assert dry_run(api).report().warnings == {"would violate PodSecurity": ALL[1:], "old field": [HEAD[1], WORKER_POD]}


def test_warnings_of_what_is_refused_are_told_too(api):
    api.verdicts = {"Job": ApiError(422, "Invalid", "no", warnings=("deprecated",))}
    assert dry_run(api).report().warnings == {"deprecated": JOBS}


@pytest.mark.parametrize("kind", ["Job", "Pod"])
def test_what_the_user_may_not_create_is_left_out(api, kind):
    api.forbidden = {kind}
    report = dry_run(api).report()
    workers = "Jobs demo-elastic-worker-0 to demo-elastic-worker-2" if kind == "Job" else WORKER_POD
    why = f"you may not create {kind.lower()}s in namespace default"
    assert report.left_out == {HEAD[kind == "Pod"]: why, workers: why}
    assert report.refusals == []
    # Once for each kind of Job is enough
    assert sum(call.body.get("kind") == kind for call in api.calls if call.body) == 2


def test_who_may_not_create_jobsets_is_refused(api):
    api.forbidden = {"JobSet"}
    with pytest.raises(RefusedError, match="refuses demo-elastic") as refusal:
        dry_run(api).report()
    assert "Ask for the right" not in refusal.value.why


def test_a_403_stays_a_refusal_where_the_server_does_not_tell_rights(api):
    api.verdicts = {"Pod": QUOTA, "SelfSubjectAccessReview": status_error(501, "NotImplemented")}
    assert kinds(dry_run(api).report()) == [HEAD[1], WORKER_POD]


@pytest.mark.parametrize("kind", ["JobSet", "Job", "Pod"])
def test_a_webhook_that_knows_no_dry_run_is_no_refusal(api, kind):
    text = 'admission webhook "x.example.com" does not support dry run'
    api.verdicts = {kind: status_error(400, "BadRequest", text)}
    report = dry_run(api).report()
    assert report.refusals == []
    assert all(label.startswith(kind) for label in report.left_out)
    assert list(report.left_out.values()) == [text] * (1 if kind == "JobSet" else 2)


def put(api, made, **metadata):
    return api.put({**made.manifest, "metadata": {**made.manifest["metadata"], **metadata}})


def test_a_name_that_is_taken_is_no_refusal(api):
    put(api, plan())
    before = copy.deepcopy(api.objects)
    report = dry_run(api).report()
    assert report.existing["metadata"]["name"] == "demo-elastic"
    assert (report.accepted, report.refusals) == (ALL, [])
    assert report.stored["metadata"]["name"] == "demo-elastic"
    assert api.objects == before


def owned(kind, name, **metadata):
    """A Job that somebody has made under the name of the second slice's."""
    owner = [{"apiVersion": "example.com/v1", "kind": kind, "name": name, "controller": True}] if kind else []
    return {"metadata": {"name": "demo-elastic-worker-1", "ownerReferences": owner, **metadata}}


@pytest.mark.parametrize(
    "job",
    [
        owned("JobSet", "demo-elastic"),
        owned("CronJob", "nightly", deletionTimestamp="2026-11-30T12:00:00Z"),
        owned("", "", deletionTimestamp="2026-11-30T12:00:00Z"),
    ],
    ids=["its own", "going", "going, nobody's"],
)
def test_a_job_that_is_its_own_or_goes_is_no_refusal(api, job):
    api.put(job, PATH)
    assert dry_run(api).report().accepted == ALL


def test_a_job_that_has_gone_meanwhile_is_no_refusal(api):
    api.put(owned("CronJob", "nightly"), PATH)
    # After the look for the JobSet
    api.meanwhile("GET", lambda: None)
    api.meanwhile("GET", lambda: api.remove(f"{PATH}/demo-elastic-worker-1"))
    assert dry_run(api).report().accepted == ALL


@pytest.mark.parametrize(
    ("job", "keeper"),
    [
        (owned("CronJob", "nightly"), "CronJob nightly has a Job of that name"),
        (owned("JobSet", "other"), "JobSet other has a Job of that name"),
        (owned("", ""), "a Job of that name is there, which nothing controls"),
    ],
    ids=["a CronJob's", "another JobSet's", "nobody's"],
)
def test_a_job_of_somebody_else_is_a_refusal(api, job, keeper):
    """JobSet would try to create its own for ever."""
    api.put(job, PATH)
    report = dry_run(api).report()
    assert [(each.label, each.reason, each.message) for each in report.refusals] == [
        (SLICES[1], "AlreadyExists", keeper)
    ]
    assert report.accepted == [label for label in ALL if label != SLICES[1]]
    assert "--workload" in PlanRefusedError(plan(), report.refusals).next


def test_a_taken_name_that_the_user_may_not_look_into_is_left_out(api):
    api.put(owned("CronJob", "nightly"), PATH)
    api.meanwhile("GET", lambda: None)
    api.meanwhile("GET", lambda: api.fail("GET", status_error(403, "Forbidden", "you may not read jobs")))
    report = dry_run(api).report()
    assert report.left_out == {SLICES[1]: "its name is taken, and whose it is can't be read: you may not read jobs"}
    assert report.refusals == []
    assert SLICES[1] not in report.accepted


def test_each_job_is_judged_by_itself(api):
    def last(job):
        return QUOTA if job["metadata"]["name"].endswith("-2") else None

    api.verdicts = {"Job": last}
    report = dry_run(api).report()
    assert kinds(report) == [SLICES[2]]
    assert report.accepted == [label for label in ALL if label != SLICES[2]]


def test_a_webhook_that_knows_no_dry_run_may_be_in_the_way_of_one_job_alone(api):
    text = 'admission webhook "x.example.com" does not support dry run'

    def second(job):
        return status_error(400, "BadRequest", text) if job["metadata"]["name"].endswith("worker-1") else None

    api.verdicts = {"Job": second}
    report = dry_run(api).report()
    assert report.left_out == {SLICES[1]: text}
    assert report.accepted == [label for label in ALL if label != SLICES[1]]


def test_the_right_to_create_is_asked_for_once(api):
    """A quota refuses hundreds of Jobs as well as one."""
    api.verdicts = {"Job": QUOTA}
    assert len(dry_run(api, plan(300)).report().refusals) == 301
    asked = [call for call in api.calls if call.body and call.body.get("kind") == "SelfSubjectAccessReview"]
    assert len(asked) == 1


def test_many_jobs_are_announced(api):
    for slices, expected in ((TELLING - 1, []), (TELLING, [f"Asking the API server about {TELLING} Jobs"])):
        notices = []
        assert len(dry_run(api, plan(slices), notices=notices).report().accepted) == slices + 4
        assert notices == expected


def test_more_slices_than_xlaunch_makes_are_not_all_asked_about(api):
    """A patch may ask for any number."""
    report = dry_run(api, plan(5000)).report()
    assert report.left_out == {
        "Jobs demo-elastic-worker-1023 to demo-elastic-worker-4998": "no more than 1024 of one kind are asked about"
    }
    assert report.accepted[-3:] == [f"Job demo-elastic-worker-{n}" for n in (1022, 4999)] + [
        "Pod demo-elastic-worker-4999-3"
    ]


def test_what_may_not_be_asked_about_at_all_is_left_out_once(api):
    api.forbidden = {"Job"}
    labels = list(dry_run(api, plan(5000)).report().left_out)
    assert labels == [
        "Job demo-elastic-pathways-head-0",
        "Jobs demo-elastic-worker-0 to demo-elastic-worker-4999",
    ]


def test_what_is_wrong_is_told_before_that_the_name_is_taken(api):
    put(api, plan())
    api.verdicts = {"JobSet": INVALID}
    assert kinds(dry_run(api).report()) == ALL[:1]


@pytest.mark.parametrize("name", ["a", "x", "run", "demo", "train-1", "a" * 37])
def test_a_stand_in_has_the_same_length_and_is_renamed(api, name):
    made = plan(name=name)
    put(api, made)
    found = dry_run(api, made).stored(exists=True).body
    sent = api.calls[-1].body["metadata"]["name"]
    assert found["metadata"]["name"] == name
    assert sent != name
    assert len(sent) == len(name)


def test_stand_ins_that_are_taken_are_passed_over(api):
    made = plan()
    first = []
    api.meanwhile("POST", lambda: first.append(put(api, made, name=api.calls[-1].body["metadata"]["name"])))
    assert dry_run(api, made).stored(exists=True).body["metadata"]["name"] == "demo-elastic"
    assert len(api.calls) == 2


def test_a_name_that_somebody_takes_in_between_is_passed_over_too(api):
    made = plan()
    api.meanwhile("POST", lambda: put(api, made))
    assert dry_run(api, made).stored(exists=False).body["metadata"]["name"] == "demo-elastic"


def test_when_all_stand_ins_are_taken_the_name_is_the_refusal(api):
    api.verdicts = {"JobSet": status_error(409, "AlreadyExists", "already exists")}
    with pytest.raises(RefusedError, match="refuses demo-elastic"):
        dry_run(api).stored(exists=True)


def test_what_restart_job_lacks_is_told_as_a_submission_tells_it(api):
    gate = "RestartJob and … failure policy actions are not allowed when RestartJob feature gate is disabled"
    api.verdicts = {"JobSet": status_error(422, "Invalid", gate)}
    report = dry_run(api).report()
    assert [(each.reason, each.message) for each in report.refusals] == [
        ("NoRestartJob", "JobSet's feature gate RestartJob is off")
    ]
    assert "--restart-scope=pod" in PlanRefusedError(plan(), report.refusals).next
    with pytest.raises(RefusedError) as refusal:
        dry_run(api).stored(exists=False)
    assert refusal.value.reason == "NoRestartJob"


def test_a_refusal_of_the_stand_in_is_the_plans(api):
    api.verdicts = {"JobSet": INVALID}
    with pytest.raises(RefusedError, match="refuses demo-elastic"):
        dry_run(api).stored(exists=True)


def test_a_busy_server_is_asked_again(api):
    api.fail("POST", BUSY, status_error(500, "InternalError", "failed calling webhook"))
    notices = []
    assert dry_run(api, notices=notices).report().accepted == ALL
    assert [line.partition(":")[0] for line in notices] == ["Not yet", "Not yet"]


def test_a_cut_after_the_first_answer_is_asked_again(api):
    api.fail("POST", LOST)
    assert dry_run(api).report().accepted == ALL


def test_a_server_that_never_answers_is_not_waited_for(api):
    api.fail("GET", LOST)
    with pytest.raises(NetworkError):
        dry_run(api).report()
    assert api.clock.slept == []


def test_a_server_that_stays_busy_is_given_up(api):
    api.fail("POST", *[BUSY] * 50)
    with pytest.raises(NetworkError, match="failures for 60 s"):
        dry_run(api).report()


def test_a_missing_namespace(api):
    api.verdicts = {"JobSet": status_error(404, "NotFound", "namespaces not found", kind="namespaces", name="default")}
    with pytest.raises(NotFoundError, match="no namespace default"):
        dry_run(api).report()


def test_a_cluster_without_jobset(api):
    api.fail("GET", status_error(404, "NotFound", "the server could not find the requested resource"))
    with pytest.raises(RefusedError, match="no JobSet"):
        dry_run(api).report()


class Upgraded(StoreApi):
    """A server whose webhooks have learned a default."""

    def _post(self, path, query, body):
        reply = super()._post(path, query, body)
        reply.body["spec"].setdefault("network", {}).setdefault("publishNotReadyAddresses", True)
        reply.body["spec"]["suspend"] = True
        return reply


@pytest.mark.parametrize("suspend", [{}, {"suspend": False}, {"suspend": True}])
def test_a_living_one_gets_todays_defaults_and_stays_suspended_or_not(suspend):
    api = Upgraded(FakeClock())
    live = put(api, plan())
    live["spec"] = {**live["spec"], "network": {"subdomain": "s"}, **suspend}
    live["status"] = {"restarts": 1}
    found = dry_run(api).today(live)
    assert found["spec"] == {**live["spec"], "network": {"subdomain": "s", "publishNotReadyAddresses": True}}
    sent = api.calls[-1].body["metadata"]
    assert (len(sent["name"]), "uid" in sent, "resourceVersion" in sent) == (len("demo-elastic"), False, False)
    assert found["metadata"]["name"] == "demo-elastic"


def test_a_living_one_that_would_be_refused_today_stays_as_it_is(api):
    live = put(api, plan())
    api.verdicts = {"JobSet": INVALID}
    assert dry_run(api).today(live) == live
