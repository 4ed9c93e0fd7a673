from xlaunch.local.node.hosts import Hosts, names

from .fakes import pod


def named(uid, namespace="default", **fields):
    body = pod(**fields)
    body["metadata"] |= {"uid": uid, "namespace": namespace}
    return body


def test_names_of_a_jobset_s_pod():
    assert names(named("u", name="js-worker-0-1-abcde", hostname="js-worker-0-1", subdomain="js")) == [
        "js-worker-0-1.js",
        "js-worker-0-1",
        "js-worker-0-1-abcde",
        "js-worker-0-1.js.default",
        "js-worker-0-1.js.default.svc",
        "js-worker-0-1.js.default.svc.cluster.local",
    ]


def test_names_without_subdomain():
    assert names(named("u", name="p", hostname="h")) == ["h", "p"]
    assert names(named("u", name="p")) == ["p"]


def test_files_follow_the_pods(tmp_path):
    hosts = Hosts(tmp_path / "hosts")
    one, two, other = named("1", name="one"), named("2", name="two"), named("3", "other", name="three")
    hosts.add(one, "127.77.0.1")
    hosts.add(two, "127.77.0.2")
    hosts.add(other, "127.77.0.3")
    assert hosts.path("default").read_text() == "127.77.0.2 two\n127.77.0.1 one\n"
    assert hosts.path("other").read_text() == "127.77.0.3 three\n"
    hosts.remove(one)
    hosts.remove(one)
    assert hosts.path("default").read_text() == "127.77.0.2 two\n"
    assert [path.name for path in (tmp_path / "hosts").iterdir() if path.name.startswith(".")] == []


def test_the_newest_pod_of_a_name_comes_first(tmp_path):
    hosts = Hosts(tmp_path)
    hosts.add(named("old", hostname="h"), "127.77.0.1")
    hosts.add(named("new", hostname="h"), "127.77.0.2")
    assert [line.split()[0] for line in hosts.path("default").read_text().splitlines()] == ["127.77.0.2", "127.77.0.1"]
