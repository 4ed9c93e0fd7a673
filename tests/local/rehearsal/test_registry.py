import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlaunch.local.rehearsal.registry import Registry, Worker, chips_of, whole_slices


def worker(slice_index, host, incarnation="", hosts=2):
    return Worker(slice_index, host, hosts, "127.0.0.1:29005", incarnation or f"{slice_index}-{host}")


def test_a_slice_is_whole_when_every_host_is_there():
    registry = Registry(2)
    registry.register(worker(1, 0), 0.0)
    assert registry.whole() == []
    registry.register(worker(1, 1), 0.0)
    assert registry.whole() == [1]


def test_silence_expires_a_worker_and_breaks_its_slice():
    registry = Registry(1, timeout=10.0)
    registry.register(worker(0, 0), 0.0)
    registry.register(worker(0, 1), 0.0)
    assert registry.heartbeat("0-0", 8.0)
    assert registry.expire(10.0) == []
    assert registry.expire(10.1) == [worker(0, 1)]
    assert (registry.whole(), registry.workers()) == ([], [worker(0, 0)])
    assert not registry.heartbeat("0-1", 11.0), "it must register again"


def test_a_replacement_takes_the_place_of_the_one_before():
    registry = Registry(1)
    registry.register(worker(0, 0, "old", hosts=1), 0.0)
    registry.register(worker(0, 0, "new", hosts=1), 1.0)
    assert [found.incarnation for found in registry.workers()] == ["new"]
    assert not registry.heartbeat("old", 2.0)


def test_a_worker_may_register_twice():
    registry = Registry(1)
    registry.register(worker(0, 0, hosts=1), 0.0)
    registry.register(worker(0, 0, hosts=1), 9.0)
    assert registry.expire(15.0) == []


@pytest.mark.parametrize("index", [-1, 2])
def test_a_slice_that_does_not_exist_is_refused(index):
    with pytest.raises(ValueError, match="--instance_count=2"):
        Registry(2).register(worker(index, 0), 0.0)


@pytest.mark.parametrize(("text", "chips"), [("tpuv5e:4x4", 16), ("tpuv5:2x2x4", 16), ("tpu7x:1x1x1", 1)])
def test_chips_of_an_instance_type(text, chips):
    assert chips_of(text) == chips


@pytest.mark.parametrize("text", ["", "tpuv5e", "tpuv5e:", "tpuv5e:4xx", "tpuv5e:0x4", "4x4"])
def test_an_instance_type_without_topology_is_refused(text):
    with pytest.raises(ValueError, match="--instance_type"):
        chips_of(text)


@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_whole_slices_counts_hosts(places):
    whole = whole_slices([worker(index, host, hosts=4) for index, host in places])
    assert whole == [index for index in range(4) if {(index, host) for host in range(4)} <= places]
