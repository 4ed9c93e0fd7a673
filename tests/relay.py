"""A TCP relay on loopback that counts what a server sends: the cost of a command on the wire."""

import socketserver
import threading
from socket import create_connection

from fakes.server import pump


class Relay:
    """Stands between clients and a port of loopback for as long as its context lasts; `received` counts bytes."""

    def __init__(self, port):
        self.received = 0
        relay = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                with create_connection(("127.0.0.1", port)) as upstream:
                    forth = threading.Thread(target=pump, args=(self.request, upstream), daemon=True)
                    forth.start()
                    pump(relay.counting(upstream), self.request)
                    forth.join()

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    def counting(self, source):
        relay = self

        class Counting:
            def recv(self, size):
                data = source.recv(size)
                relay.received += len(data)
                return data

        return Counting()

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
