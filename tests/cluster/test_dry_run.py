"""A dry run on the server: all refusals, all warnings, nothing stored; through what may happen on the way."""

import copy

import pytest
from fakes.api import status_error
from fakes.clock import FakeClock
from fakes.cluster import reference_jobset
from fakes.store import LOST, StoreApi

from xlaunch.cluster.api import ApiError
from xlaunch.cluster.dry_run import DryRun, PlanRefusedError, Refusal
from xlaunch.core.errors import NetworkError, NotFoundError, RefusedError
from xlaunch.core.plan import finished

ALL = [
    "JobSet demo-elastic",
    "Job demo-elastic-pathways-head-0",
    "Pod demo-elastic-pathways-head-0-0",
    "Job demo-elastic-worker-2",
    "Pod demo-elastic-worker-2-3",
]
HEAD, WORKER = ALL[1:3], ALL[3:]
INVALID = status_error(422, "Invalid", 'spec.volumes: Not found: "scratch"')
QUOTA = status_error(403, "Forbidden", "exceeded quota: team, requested: cpu=24, used: cpu=90, limited: cpu=96")
BUSY = status_error(429, "TooManyRequests", "slow down")


@pytest.fixture
def api():
    return StoreApi(FakeClock())


def plan(**metadata):
    made = reference_jobset()
    made["metadata"] |= {"namespace": "default", **metadata}
    return finished(made)


def dry_run(api, made=None, timeout=60.0, notices=None):
    notices = [] if notices is None else notices
    return DryRun(api, made or plan(), clock=api.clock, timeout=timeout, notice=notices.append)


def kinds(report):
    return [f"{each.kind} {each.name}" for each in report.refusals]


def test_all_kinds_of_objects_are_asked_for_and_nothing_is_stored(api):
    report = dry_run(api).report()
    assert (report.accepted, report.refusals, report.left_out, report.warnings) == (ALL, [], [], {})
    assert api.objects == {}
    posts = [call for call in api.calls if call.method == "POST"]
    assert len(posts) == 5
    assert all(
        call.query == {"dryRun": "All", "fieldManager": "xlaunch", "fieldValidation": "Strict"} for call in posts
    )
    assert [call.path.rpartition("/")[2] for call in posts] == ["jobsets", "jobs", "pods", "jobs", "pods"]


def test_the_jobset_is_sent_as_it_would_be_submitted(api):
    dry_run(api).report()
    sent = next(call.body for call in api.calls if call.method == "POST")
    assert sent["metadata"]["annotations"].keys() >= {"xlaunch.dev/plan-hash", "xlaunch.dev/version"}


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ({"JobSet": INVALID}, ALL[:1]),
        ({"Job": INVALID}, [HEAD[0], WORKER[0]]),
        ({"Pod": QUOTA}, [HEAD[1], WORKER[1]]),
        ({"JobSet": QUOTA, "Job": INVALID, "Pod": QUOTA}, ALL),
        # What is invalid in the Job is so in its pod: told once
        ({"Job": INVALID, "Pod": INVALID}, [HEAD[0], WORKER[0]]),
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
    assert dry_run(api).report().warnings == {"would violate PodSecurity": ALL[1:], "old field": [HEAD[1], WORKER[1]]}


def test_warnings_of_what_is_refused_are_told_too(api):
    api.verdicts = {"Job": ApiError(422, "Invalid", "no", warnings=("deprecated",))}
    assert dry_run(api).report().warnings == {"deprecated": [HEAD[0], WORKER[0]]}


@pytest.mark.parametrize("kind", ["Job", "Pod"])
def test_what_the_user_may_not_create_is_left_out(api, kind):
    api.forbidden = {kind}
    report = dry_run(api).report()
    assert [line.split(" ")[0] for line in report.left_out] == [f"{kind}", f"{kind}"]
    assert f"you may not create {kind.lower()}s in namespace default" in report.left_out[0]
    assert report.refusals == []


def test_who_may_not_create_jobsets_is_refused(api):
    api.forbidden = {"JobSet"}
    with pytest.raises(RefusedError, match="refuses demo-elastic") as refusal:
        dry_run(api).report()
    assert "Ask for the right" not in refusal.value.why


def test_a_403_stays_a_refusal_where_the_server_does_not_tell_rights(api):
    api.verdicts = {"Pod": QUOTA, "SelfSubjectAccessReview": status_error(501, "NotImplemented")}
    assert kinds(dry_run(api).report()) == [HEAD[1], WORKER[1]]


@pytest.mark.parametrize("kind", ["JobSet", "Job", "Pod"])
def test_a_webhook_that_knows_no_dry_run_is_no_refusal(api, kind):
    text = 'admission webhook "x.example.com" does not support dry run'
    api.verdicts = {kind: status_error(400, "BadRequest", text)}
    report = dry_run(api).report()
    assert report.refusals == []
    assert all(line.startswith(kind) and text in line for line in report.left_out)
    assert len(report.left_out) == (1 if kind == "JobSet" else 2)


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


def test_children_that_exist_are_no_refusal(api):
    for job in ("demo-elastic-pathways-head-0", "demo-elastic-worker-2"):
        api.put({"metadata": {"name": job}}, "/apis/batch/v1/namespaces/default/jobs")
    assert dry_run(api).report().accepted == ALL


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


def test_the_error_of_one_refusal_says_which_object_and_why():
    error = PlanRefusedError(plan(), [Refusal("Pod", "run-worker-0-3", "Forbidden", "exceeded quota")])
    assert (error.code, error.message, error.why) == (4, "The API server refuses Pod run-worker-0-3", "exceeded quota")
    assert error.more == {
        "refusals": [
            {"kind": "Pod", "name": "run-worker-0-3", "reason": "Forbidden", "message": "exceeded quota"},
        ]
    }


def test_the_error_of_several_names_all():
    refusals = [Refusal("Job", "a-0", "Invalid", "no"), Refusal("Pod", "a-0-0", "Forbidden", "no")]
    error = PlanRefusedError(plan(), refusals)
    assert (error.message, error.why) == ("The API server refuses 2 objects of demo-elastic", "Job a-0, Pod a-0-0")
    assert (error.reason, error.next) == ("Invalid", "Correct what they name; --dry-run shows the manifest")


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
