"""What may be asked of the log follower: a part of the log, one look at it, another container."""

import pytest
from fakes.kubelet import FakeKubelet, Faults
from fakes.objects import status
from support.followed import FAULTS, PENDING, POD, Run, life

from xlaunch.cluster.api import ApiError
from xlaunch.cluster.logstream import Start
from xlaunch.core.errors import UsageError


def test_tail_begins_with_the_last_lines():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.write(b"a", b"b", b"c")
    kubelet.at(5, kubelet.write, b"d")
    kubelet.at(6, kubelet.end)
    kubelet.at(7, kubelet.finish)
    assert Run(kubelet, start=Start(tail=2)).all() == b"b\nc\nd\n"


@pytest.mark.parametrize("seed", range(5))
def test_tail_0_begins_with_what_comes_next_and_loses_none_of_it(seed):
    kubelet = FakeKubelet(seed, FAULTS)
    kubelet.start_pod("aaaaa")
    kubelet.write(b"a", b"b")
    for moment in range(5, 300, 20):
        kubelet.at(moment, kubelet.write, b"%d" % moment)
    kubelet.at(400, kubelet.end)
    kubelet.at(600, kubelet.finish)
    expected = b"".join(b"%d\n" % moment for moment in range(5, 300, 20))
    assert Run(kubelet, start=Start(tail=0)).all() == expected


def test_since_is_asked_of_the_kubelet_once():
    kubelet = life(FakeKubelet(), 1, 2)
    Run(kubelet, start=Start(since=60)).all()
    assert [query.get("sinceSeconds") for query in kubelet.opened][:2] == ["60", None]


def test_timestamps_lead_the_lines():
    kubelet = life(FakeKubelet(3, FAULTS), 1, 2)
    lines = Run(kubelet, stamps=True).all().splitlines()
    assert lines == [b"2026-11-29T12:00:01.000000000Z line at 1", b"2026-11-29T12:00:02.000000000Z line at 2"]


def test_once_prints_what_there_is_and_ends_while_it_runs():
    kubelet = FakeKubelet(2, Faults(cut=0.2, piece=400))
    kubelet.start_pod("aaaaa")
    kubelet.write(*(b"%d" % n for n in range(40)))
    kubelet.at(1000, kubelet.write, b"later")
    run = Run(kubelet)
    assert b"".join(run.follower.once()) == b"".join(b"%d\n" % n for n in range(40))
    assert kubelet.clock.seconds < 100


def test_once_gives_up_where_nothing_comes():
    kubelet = FakeKubelet(0, Faults(refuse=1.0))
    kubelet.start_pod("aaaaa")
    with pytest.raises(ApiError, match="No agent available"):
        list(Run(kubelet).follower.once())
    assert 20 < kubelet.clock.seconds < 120


def test_once_previous_prints_the_instance_before():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.write(b"first")
    kubelet.crash(137)
    kubelet.write(b"second")
    run = Run(kubelet)
    assert b"".join(run.follower.once(previous=True)) == b"first\n"
    assert run.said == []


def test_once_without_anything_to_print_says_why():
    kubelet = FakeKubelet()
    kubelet.pods = {"p": PENDING}
    run = Run(kubelet)
    assert b"".join(run.follower.once()) == b""
    assert run.said == [f"There is no log: pod {POD}, container main: ContainerCreating"]
    kubelet = life(FakeKubelet(), 1)
    run = Run(kubelet)
    assert b"".join(run.follower.once(previous=True)) == b""
    assert run.said == [f"There is no log: main has not been restarted in pod {POD}"]


def test_once_without_any_pod_left_says_where_the_log_may_be():
    kubelet = FakeKubelet()
    kubelet.finish("Failed", "ReachedMaxRestarts")
    run = Run(kubelet)
    assert b"".join(run.follower.once()) == b""
    [line] = run.said
    assert line.startswith("No pod is left that has the log. On GKE, ask Cloud Logging: gcloud logging read ")


def test_a_container_that_nobody_has_is_refused_before_waiting():
    with pytest.raises(UsageError) as error:
        Run(FakeKubelet(), container="nobody")
    assert error.value.message == "train has no container nobody"
    assert error.value.why == "It has main, pathways-rm, pathways-proxy"


def test_a_sidecar_can_be_followed():
    kubelet = life(FakeKubelet(), 1)
    uid = kubelet.newest()
    kubelet.pods[uid]["status"]["initContainerStatuses"] = [status("pathways-proxy")]
    run = Run(kubelet, container="pathways-proxy", timeout=20.0)
    assert run.all().startswith(b"line at 1\n")
    assert {query["container"] for query in kubelet.opened} == {"pathways-proxy"}
