"""Google as far as connecting needs it: the GKE API over REST, a token endpoint, and credentials for both."""

import base64
import json
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from fakes.server import Answer, Server


class FakeGoogle(Server):
    """`clusters` is a list of (location, name, fields); `fail` answers everything but tokens with that status.

    Tokens are google-1, google-2 ...; `env` is what leads a program here.
    """

    def __init__(self, directory, clusters=(), *, fail=0, missing_zones=(), tls=None):
        super().__init__(self.reply, tls=tls)
        self.directory, self.clusters, self.fail, self.missing_zones = (
            Path(directory),
            list(clusters),
            fail,
            missing_zones,
        )
        self.tokens = 0

    @property
    def env(self):
        path = self.directory / "credentials.json"
        path.write_text(json.dumps(service_account(f"{self.url}/token")))
        return {
            "GOOGLE_APPLICATION_CREDENTIALS": str(path),
            "CLOUDSDK_API_ENDPOINT_OVERRIDES_CONTAINER": self.url + "/",
        }

    def reply(self, request):
        if request.path == "/token":
            self.tokens += 1
            return {"access_token": f"google-{self.tokens}", "expires_in": 3600, "token_type": "Bearer"}
        if self.fail:
            return google_error(self.fail, "the caller does not have permission")
        parts = request.path.strip("/").split("/")
        place, name = parts[4], parts[6] if len(parts) > 6 else ""
        if parts[2] == "nothing":
            return google_error(404, "Project nothing was not found")
        found = [body(*each) for each in self.clusters if place in ("-", each[0]) and name in ("", each[1])]
        if not name:
            return {"clusters": found, "missingZones": list(self.missing_zones)}
        return found[0] if found else google_error(404, f"Not found: {request.path}")


def body(location, name, fields):
    return {"name": name, "location": location, "status": "RUNNING", **fields}


def at(server, ca):
    """The fields of a cluster whose API server is this one, with its own authority."""
    encoded = base64.b64encode(Path(ca).read_bytes()).decode()
    return {"endpoint": f"127.0.0.1:{server.port}", "masterAuth": {"clusterCaCertificate": encoded}}


def google_error(status, message):
    words = {403: "PERMISSION_DENIED", 404: "NOT_FOUND", 401: "UNAUTHENTICATED", 503: "UNAVAILABLE"}
    return Answer(status, {"error": {"code": status, "message": message, "status": words.get(status, "UNKNOWN")}})


@cache
def private_key():
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def service_account(token_uri):
    return {
        "type": "service_account",
        "project_id": "from-credentials",
        "private_key_id": "1",
        "private_key": private_key(),
        "client_email": "robot@from-credentials.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": token_uri,
    }
