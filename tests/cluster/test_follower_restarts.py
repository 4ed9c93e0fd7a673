"""The log follower across restarts and replacements, and what it says of instances that nobody saw."""

from fakes.kubelet import FakeKubelet
from support.followed import POD, Run, restart, written


def test_a_restart_of_the_jobset_is_followed_into_the_new_pod():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"before")
    restart(kubelet, 2)
    kubelet.at(40, kubelet.write, b"after")
    kubelet.at(41, kubelet.end)
    kubelet.at(42, kubelet.finish)
    run = Run(kubelet)
    assert run.all() == b"before\nafter\n"
    assert run.losses() == []
    assert run.said == [
        f"Following main in pod {POD}",
        "Waiting: JobSet restarts it (1 of 3): applying",
        f"Pod {POD} is replaced by {POD[:-5]}bbbbb (JobSet restarts: 1): main ended with exit code 1; applying",
    ]


def test_who_ended_the_pod_is_said():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"before")
    kubelet.at(2, kubelet.evict)
    restart(kubelet, 2.5, code=143)
    kubelet.at(40, kubelet.end)
    kubelet.at(41, kubelet.finish)
    run = Run(kubelet)
    assert run.all() == b"before\n"
    evicted = "main ended with exit code 143 (SIGTERM); EvictionByEvictionAPI: Eviction API: evicting"
    assert run.said[-1] == f"Pod {POD} is replaced by {POD[:-5]}bbbbb (JobSet restarts: 1): {evicted}; applying"


def test_a_pod_that_vanished_unread_is_said():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, kubelet.remove_pod)
    kubelet.at(2, kubelet.start_pod, "bbbbb", 1)
    kubelet.at(3, kubelet.write, b"b")
    kubelet.at(4, kubelet.end)
    kubelet.at(5, kubelet.finish)
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\nb\n"
    assert run.losses() == [f"Pod {POD} is gone; if last lines of main are missing, they cannot be read here"]


def test_of_restarts_that_nobody_saw_the_last_dead_instance_is_read():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    for line in (b"lost", b"last"):
        kubelet.at(2, kubelet.crash, 1)
        kubelet.at(2, kubelet.write, line)
    kubelet.at(2, kubelet.crash, 137)
    kubelet.at(3, kubelet.write, b"b")
    kubelet.at(4, kubelet.end)
    kubelet.at(5, kubelet.finish)
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\nlast\nb\n"
    assert run.said[1:] == [
        "Gap: main has ended several times meanwhile, and kubelets keep the last dead instance only",
        f"main has restarted in pod {POD} (restart 2)",
        f"main has restarted in pod {POD} (restart 3, after exit 137 (SIGKILL))",
    ]


def test_a_pod_that_restarted_before_it_was_seen_is_read_from_its_beginning():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, kubelet.end, 1)
    kubelet.at(10, kubelet.remove_pod)
    kubelet.at(10, kubelet.start_pod, "bbbbb", 1)
    kubelet.at(10, kubelet.write, b"b")
    kubelet.at(10, kubelet.crash, 3)
    kubelet.at(11, kubelet.write, b"c")
    kubelet.at(12, kubelet.end)
    kubelet.at(13, kubelet.finish)
    run = Run(kubelet)
    assert run.all() == written(kubelet) == b"a\nb\nc\n"
    assert run.losses() == []
    assert run.said[-2:] == [
        f"Pod {POD} is replaced by {POD[:-5]}bbbbb (JobSet restarts: 0): main ended with exit code 1",
        f"main has restarted in pod {POD[:-5]}bbbbb (restart 1, after exit 3)",
    ]


def test_an_instance_that_may_have_run_unseen_before_its_pod_went_is_said():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, kubelet.back_off, 1)
    kubelet.at(30, kubelet.remove_pod)
    kubelet.at(40, kubelet.start_pod, "bbbbb", 1)
    kubelet.at(41, kubelet.end)
    kubelet.at(42, kubelet.finish)
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\n"
    assert run.losses() == [f"Pod {POD} is gone; if main was started once more there, its log cannot be read here"]


def test_the_log_of_the_instance_before_may_be_refused():
    kubelet = FakeKubelet()
    kubelet.start_pod("aaaaa")
    kubelet.forgets = True
    kubelet.at(1, kubelet.write, b"a")
    kubelet.at(2, kubelet.crash, 1)
    kubelet.at(3, kubelet.write, b"b")
    kubelet.at(4, kubelet.end)
    kubelet.at(5, kubelet.finish)
    run = Run(kubelet, cloud=False)
    assert run.all() == b"a\nb\n"
    assert run.losses() == [
        "Gap: the end of the log before the restart cannot be read: previous terminated container not found"
    ]
