"""A log whose beginning is gone is not passed off as whole."""

import pytest
from fakes.kubelet import FakeKubelet
from support.followed import POD, Run, life

from xlaunch.cluster.logstream import Start


def test_a_log_that_lacks_its_beginning_says_so():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.clock.sleep(3600)
    kubelet.write(b"late")
    kubelet.clock.sleep(60)
    kubelet.end()
    kubelet.finish()
    run = Run(kubelet, cloud=False)
    assert run.all() == b"late\n"
    assert run.said[1].startswith(
        "The log begins at 2026-11-29T13:00:00.000000000Z, 60m after main started; a kubelet keeps"
    )


def test_a_later_instance_that_lacks_its_beginning_says_so_too():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, setattr, kubelet, "down", True)
    kubelet.at(3, kubelet.crash)
    kubelet.at(60, kubelet.write, b"lost", b"b")
    kubelet.at(61, kubelet.rotate, 1)
    kubelet.at(62, setattr, kubelet, "down", False)
    kubelet.at(70, kubelet.end)
    kubelet.at(71, kubelet.finish)
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\nb\n"
    assert run.losses()[0].startswith("The log begins at 2026-11-29T12:01:00.001000000Z, 57s after main started")


def test_a_log_that_is_followed_from_its_start_does_not_claim_that():
    kubelet = life(FakeKubelet(), 500, end=600)
    run = Run(kubelet)
    run.all()
    assert run.said == [f"Following main in pod {POD}"]


@pytest.mark.parametrize("once", [False, True])
def test_the_logs_of_pods_before_a_restart_of_the_jobset_are_said_to_be_gone(once):
    kubelet = FakeKubelet()
    kubelet.start_pod("bbbbb", attempt=2)
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, kubelet.end)
    kubelet.at(3, kubelet.finish)
    if once:
        kubelet.clock.sleep(5)
    run = Run(kubelet)
    assert b"".join(run.follower.once() if once else run.follower) == b"a\n"
    [line] = run.losses()
    assert line.startswith(
        "This is the workload's 2nd restart: the logs of the pods before cannot be read here. On GKE, ask Cloud "
        "Logging: gcloud logging read "
    )
    assert 'pod_name:"train-pathways-head-"' in line
    assert 'container_name="main"' in line


def test_who_asks_for_the_newest_lines_is_not_told_of_older_ones():
    kubelet = FakeKubelet()
    kubelet.start_pod("bbbbb", attempt=2)
    kubelet.write(b"a", b"b")
    kubelet.at(2, kubelet.end)
    kubelet.at(3, kubelet.finish)
    run = Run(kubelet, start=Start(tail=1))
    assert run.all() == b"b\n"
    assert run.losses() == []


def test_an_earlier_restart_is_mentioned():
    kubelet = life(FakeKubelet(), 1)
    kubelet.crash(1)
    run = Run(kubelet)
    run.all()
    assert run.said[1] == "main has restarted in this pod: --previous prints the log before its 1st restart"
