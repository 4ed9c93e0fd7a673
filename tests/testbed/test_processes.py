import os
import random
import signal
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from fakes.clock import FakeClock

from testbed import processes
from testbed.processes import LOOPBACK, StartError, answers, free_ports, listens, wait_until
from xlaunch.local import procs


def started(tmp_path, code, name="part"):
    return processes.start(name, [sys.executable, "-c", code], tmp_path, env=dict(os.environ))


def test_a_component_logs_both_streams(tmp_path):
    component = started(tmp_path, "import sys; print('out', flush=True); print('err', file=sys.stderr)")
    assert component.process.wait() == 0
    assert component.log == tmp_path / "part.log"
    assert component.log.read_text() == "out\nerr\n"


def test_a_component_that_starts_again_goes_on_in_its_log(tmp_path):
    for number in (1, 2):
        started(tmp_path, f"print({number})").process.wait()
    assert (tmp_path / "part.log").read_text() == "1\n2\n"


def test_stop_ends_one_that_ignores_a_polite_request(tmp_path):
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); signal.pause()"
    component = started(tmp_path, code)
    component.stop()
    assert component.process.returncode == -signal.SIGKILL


def test_a_component_dies_with_its_starter(tmp_path):
    code = f"""
import os, signal, sys
from pathlib import Path
from testbed import processes
part = processes.start("part", ["sleep", "600"], Path({str(tmp_path)!r}), env=dict(os.environ))
print(part.process.pid, flush=True)
signal.pause()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as starter:
        pid = int(starter.stdout.readline())
        start = procs.start_of(pid)
        assert procs.is_running(pid, start)
        starter.kill()
    assert procs.wait_ended(pid, start, timeout=5)


def test_a_command_whose_starter_is_dead_already_never_runs(tmp_path):
    argv = [sys.executable, "-m", "testbed.tether", "1", "touch", str(tmp_path / "ran")]
    assert subprocess.run(argv, check=False).returncode == 1
    assert not (tmp_path / "ran").exists()


def test_ports_are_free_and_different():
    ports = free_ports(20)
    assert len(set(ports)) == 20
    assert set(ports) <= set(processes.PORTS)
    for port in ports:
        with socket.socket() as server:
            server.bind((LOOPBACK, port))


def test_a_taken_port_is_not_given():
    [first] = free_ports(1, random.Random(7))
    with socket.socket() as taken:
        taken.bind((LOOPBACK, first))
        assert free_ports(1, random.Random(7)) != [first]


def test_waiting_polls_until_the_truth(tmp_path):
    component = started(tmp_path, "import signal; signal.pause()")
    clock, seen = FakeClock(), iter([False, False, True])
    wait_until(lambda: next(seen), [component], "its start", clock, clock.monotonic() + 10)
    component.stop()
    assert next(seen, "all asked") == "all asked"


def test_a_component_that_ends_fails_with_its_last_words(tmp_path):
    component = started(tmp_path, "print('no etcd here'); raise SystemExit(3)")
    component.process.wait()
    clock = FakeClock()
    with pytest.raises(StartError, match=r"(?s)part ended with 3; its log is .*part\.log.*no etcd here"):
        wait_until(lambda: False, [component], "its start", clock, clock.monotonic() + 10)


def test_one_that_waits_for_another_says_which_ended(tmp_path):
    gone, waiting = started(tmp_path, "", "gone"), started(tmp_path, "import signal; signal.pause()", "waiting")
    gone.process.wait()
    clock = FakeClock()
    with pytest.raises(StartError, match="gone ended with 0"):
        wait_until(lambda: False, [gone, waiting], "its start", clock, clock.monotonic() + 10)
    waiting.stop()


def test_a_deadline_says_what_took_too_long(tmp_path):
    component = started(tmp_path, "import signal; signal.pause()")
    clock = FakeClock()
    with pytest.raises(StartError, match="part is not ready: its webhooks took too long"):
        wait_until(lambda: False, [component], "its webhooks", clock, clock.monotonic() + 10)
    component.stop()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/readyz" else 500)
        self.end_headers()

    def log_message(self, *args):
        pass


def test_answers_and_listens(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with HTTPServer((LOOPBACK, 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        port = server.server_port
        url = f"http://{LOOPBACK}:{port}"
        assert (answers(f"{url}/readyz"), answers(f"{url}/other"), listens(port)) == (True, False, True)
        server.shutdown()
    assert (answers(f"{url}/readyz"), listens(port)) == (False, False)
