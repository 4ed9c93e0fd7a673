"""A local HTTP or HTTPS server that answers by a function, and a forward proxy; both keep what they were asked."""

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import create_connection
from urllib.parse import parse_qsl, urlsplit

CUT = object()


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Answer:
    """`body` is JSON, or bytes. `chunks` are sent one by one instead: CUT ends it, an Event is waited for."""

    status: int = 200
    body: object = None
    headers: list = field(default_factory=list)
    chunks: list | None = None
    content_type: str = "application/json"


class Server:
    """Runs while its context is open. `answer(request) -> Answer`, or a body alone."""

    def __init__(self, answer, *, tls=None, host="127.0.0.1"):
        self.answer, self.tls, self.host = answer, tls, host
        self.requests = []
        self.peers = []

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    def __enter__(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True  # or an answer's body waits 40 ms for the client to acknowledge its headers
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_any(self):
                length = int(self.headers.get("Content-Length") or 0)
                url = urlsplit(self.path)
                request = Request(
                    self.command, url.path, dict(parse_qsl(url.query)), dict(self.headers), self.rfile.read(length)
                )
                outer.requests.append(request)
                if outer.tls:
                    outer.peers.append(self.connection.getpeercert())
                answer = outer.answer(request)
                self.send(answer if isinstance(answer, Answer) else Answer(body=answer))

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_any  # noqa: N815

            def send(self, answer):
                self.send_response(answer.status)
                for name, value in answer.headers:
                    self.send_header(name, value)
                self.send_header("Content-Type", answer.content_type)
                if answer.chunks is not None:
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    self.send_chunks(answer.chunks)
                    return
                data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def send_chunks(self, chunks):
                for chunk in chunks:
                    if chunk is CUT:
                        self.close_connection = True
                        return
                    if isinstance(chunk, threading.Event):
                        chunk.wait(10)
                        continue
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                    self.wfile.flush()
                self.wfile.write(b"0\r\n\r\n")

        self.http = ThreadingHTTPServer((self.host, 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *_: None
        if self.tls:
            self.http.socket = self.tls.wrap_socket(self.http.socket, server_side=True)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()


@contextmanager
def proxy(login=None):
    """A forward proxy for CONNECT; yields its URL and the list of targets that were asked for.

    `login` is the Proxy-Authorization that it wants.
    """
    targets = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_CONNECT(self):
            targets.append(self.path)
            if login and self.headers.get("Proxy-Authorization") != login:
                self.send_error(407)
                return
            host, _, port = self.path.rpartition(":")
            with create_connection((host, int(port)), timeout=5) as upstream:
                self.send_response(200)
                self.end_headers()
                back = threading.Thread(target=pump, args=(upstream, self.connection), daemon=True)
                back.start()
                pump(self.connection, upstream)
                back.join(5)
            self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", targets
    finally:
        server.shutdown()
        server.server_close()


def pump(source, sink):
    """Copies bytes until either side ends."""
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(1)
    except OSError:
        return
