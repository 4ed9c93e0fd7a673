"""How following ends, what it waits for, and what it bears."""

import pytest
from fakes.api import status_error
from fakes.kubelet import FakeKubelet, Faults
from fakes.objects import jobset
from support.followed import PENDING, POD, Run, life, written

from xlaunch.cluster.api import ApiError
from xlaunch.core.errors import NetworkError
from xlaunch.core.workload import Phase

ENDS = [
    ("failed, the pod is kept", "Failed", False, Phase.FAILED, []),
    ("failed, the pods were deleted", "Failed", True, Phase.FAILED, [f"Pod {POD} is gone"]),
    ("completed", "Completed", False, Phase.COMPLETED, []),
]


@pytest.mark.parametrize(
    ("word", "deleted", "phase", "losses"), [case[1:] for case in ENDS], ids=[case[0] for case in ENDS]
)
def test_the_end(word, deleted, phase, losses):
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, kubelet.remove_pod if deleted else kubelet.end)
    kubelet.at(2, kubelet.finish, word, "Because")
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\n"
    assert (run.end.phase, run.end.reason) == (phase, "Because")
    assert [line.partition(";")[0] for line in run.losses()] == losses


def test_a_failed_workload_without_pods_says_where_its_log_may_be():
    kubelet = FakeKubelet()
    kubelet.finish("Failed", "ReachedMaxRestarts")
    run = Run(kubelet)
    assert run.all() == b""
    assert run.end.phase is Phase.FAILED
    [line] = run.said
    assert line.startswith("No pod is left that has the log. On GKE, ask Cloud Logging: gcloud logging read ")
    assert 'resource.labels.pod_name:"train-pathways-head-"' in line


def test_a_deleted_workload_is_read_while_its_pod_lives():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, setattr, kubelet, "jobset", None)
    kubelet.at(2, kubelet.write, b"dying")
    kubelet.at(3, kubelet.remove_pod)
    run = Run(kubelet)
    assert run.all() == b"dying\n"
    assert (run.end.phase, run.end.reason) == (None, "Deleted")


def test_another_jobset_of_the_same_name_is_not_the_one():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    other = jobset()
    other["metadata"]["uid"] = "uid-of-another"
    kubelet.at(2, kubelet.remove_pod)
    kubelet.at(2, setattr, kubelet, "jobset", other)
    run = Run(kubelet)
    assert run.all() == b"a\n"
    assert run.end.phase is None


def test_an_unreadable_log_at_the_end_is_given_up():
    """The node died with the workload: no attempt will ever work."""
    kubelet = FakeKubelet(0, Faults())
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, setattr, kubelet.faults, "refuse", 1.0)
    kubelet.at(2, setattr, kubelet.faults, "cut", 1.0)
    kubelet.at(3, kubelet.end, 1)
    kubelet.at(3, kubelet.finish, "Failed")
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\n"
    assert run.end.phase is Phase.FAILED
    assert f"The log of pod {POD} cannot be read: No agent available; trying again" in run.said
    assert run.losses()[-1].startswith(f"Pod {POD} is gone")


def test_a_pending_pod_is_waited_for_with_its_reasons():
    kubelet = FakeKubelet()
    kubelet.pods = {"p": PENDING}
    kubelet.at(
        20,
        lambda: kubelet.events.append(
            {
                "type": "Warning",
                "reason": "FailedMount",
                "message": "no such volume",
                "lastTimestamp": "2026-11-29T12:00:20Z",
            }
        ),
    )
    kubelet.at(70, kubelet.pods.clear)
    kubelet.at(70, kubelet.start_pod, "bbbbb")
    kubelet.at(71, kubelet.write, b"at last")
    kubelet.at(72, kubelet.end)
    kubelet.at(73, kubelet.finish)
    run = Run(kubelet)
    assert run.all() == b"at last\n"
    assert run.said == [
        f"Waiting: pod {POD}, container main: ContainerCreating",
        f"Waiting: pod {POD}, container main: ContainerCreating; FailedMount: no such volume",
        "Following main in pod train-pathways-head-0-0-bbbbb",
    ]
    assert max(kubelet.clock.slept) <= 5.0


def test_the_deadline_ends_a_wait_and_a_silent_stream():
    kubelet = FakeKubelet()
    kubelet.pods = {"p": PENDING}
    run = Run(kubelet, timeout=30.0)
    assert run.all() == b""
    assert run.end.timed_out
    assert kubelet.clock.seconds == pytest.approx(30, abs=1)
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    run = Run(kubelet, timeout=30.0)
    assert run.all() == b""
    assert (run.end.timed_out, run.end.phase) == (True, Phase.RUNNING)
    assert kubelet.clock.seconds == pytest.approx(30, abs=1)


def test_the_api_server_may_be_away_for_a_while():
    kubelet = life(FakeKubelet(), 1, 100, end=200)
    kubelet.at(50, setattr, kubelet, "down", True)
    kubelet.at(80, setattr, kubelet, "down", False)
    run = Run(kubelet)
    assert run.all() == written(kubelet)
    assert "Cannot reach it; trying again" in run.said


def test_an_api_server_that_stays_away_is_an_error():
    kubelet = life(FakeKubelet(), 1, end=5000)
    kubelet.at(50, setattr, kubelet, "down", True)
    with pytest.raises(NetworkError, match="Cannot reach it"):
        Run(kubelet).all()
    assert kubelet.clock.seconds > 900


def test_who_may_not_read_logs_is_told_at_once(monkeypatch):
    kubelet = life(FakeKubelet(), 1)
    refusal = status_error(403, "Forbidden", 'pods "x" is forbidden: cannot get resource "pods/log"')
    monkeypatch.setattr(kubelet, "stream", lambda *_, **__: (_ for _ in ()).throw(refusal))
    with pytest.raises(ApiError, match="pods/log"):
        Run(kubelet).all()
