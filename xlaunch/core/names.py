"""Names: what Kubernetes takes as a name, and how long a workload's name may be.

JobSet builds longer names out of the workload's (JobSet v0.12 pkg/util/placement/placement.go): Jobs
`<workload>-<job>-<index>`, pods `<job name>-<index>-<5 characters>`, and the coordinator's address, which is a label.
"""

from __future__ import annotations

import hashlib
import re

LABEL_LENGTH = 63
POD_SUFFIX_LENGTH = len("-abcde")
SUBDOMAIN_LENGTH = 7
DNS_LABEL = "Names are made of at most 63 lower-case letters, digits and '-'"

_DNS_1035_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_DNS_1123_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_DNS_1123_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_ENV_NAME = re.compile(r"[-._A-Za-z][-._A-Za-z0-9]*")
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")


def is_dns1035_label(text: str) -> bool:
    """A label that starts with a letter: names of JobSets, Jobs and Services (RFC 1035)."""
    return len(text) <= LABEL_LENGTH and _DNS_1035_LABEL.fullmatch(text) is not None


def is_dns1123_label(text: str) -> bool:
    """A label that may start with a digit: names of containers and namespaces (RFC 1123)."""
    return len(text) <= LABEL_LENGTH and _DNS_1123_LABEL.fullmatch(text) is not None


def is_dns1123_subdomain(text: str) -> bool:
    """Labels joined by dots: names of secrets, service accounts and priority classes."""
    return len(text) <= 253 and _DNS_1123_SUBDOMAIN.fullmatch(text) is not None


def is_label_value(text: str) -> bool:
    """A label's value: empty, or up to 63 of letters, digits, `-`, `_` and `.`, with an alphanumeric at both ends."""
    return len(text) <= LABEL_LENGTH and (not text or _QUALIFIED.fullmatch(text) is not None)


def is_qualified_name(text: str) -> bool:
    """The key of a label or annotation: a name, or `domain/name` (k8s.io/apimachinery IsQualifiedName)."""
    prefix, slash, name = text.rpartition("/")
    if slash and not is_dns1123_subdomain(prefix):
        return False
    return len(name) <= LABEL_LENGTH and _QUALIFIED.fullmatch(name) is not None


def is_env_name(text: str) -> bool:
    """The name of an environment variable (apimachinery IsEnvVarName, before Kubernetes 1.34 relaxed it)."""
    return _ENV_NAME.fullmatch(text) is not None and text != "." and not text.startswith("..")


def job_name(workload: str, replicated_job: str, index: int | str) -> str:
    """The name of one Job of a JobSet (JobSet v0.12 pkg/util/placement/placement.go GenJobName)."""
    return f"{workload}-{replicated_job}-{index}"


def coordinator_address(workload: str, replicated_job: str, job: int, pod: int, subdomain: str) -> str:
    """The coordinator's address, which JobSet writes as a label on every pod: at most 63 characters."""
    return f"{workload}-{replicated_job}-{job}-{pod}.{subdomain or workload}"


def longest_name(replicated_job: str, replicas: int, pods: int) -> int:
    """How long a workload's name may be so that the names of the last Job's last pod still fit."""
    return LABEL_LENGTH - len(f"-{replicated_job}-{replicas - 1}-{pods - 1}") - POD_SUFFIX_LENGTH


def longest_coordinated_name(replicated_job: str, *, short_subdomain: bool) -> int:
    """How long a workload's name may be so that its coordinator's address still is a label value.

    22 for `pathways-head`, 37 with a short subdomain of our own in place of the name's second occurrence.
    """
    room = LABEL_LENGTH - len(coordinator_address("", replicated_job, 0, 0, "s")) + 1
    return room - SUBDOMAIN_LENGTH if short_subdomain else room // 2


def short_subdomain(workload: str) -> str:
    """A subdomain of 7 characters, the same for the same workload. It must be unique within a namespace.

    Two JobSets under one subdomain share a Service that selects the pods of only one of them.
    """
    return "x" + hashlib.sha256(workload.encode()).hexdigest()[: SUBDOMAIN_LENGTH - 1]


def proposal(name: str, limit: int) -> str:
    """A valid name of at most `limit` characters like the one given; what was cut off is told apart by a hash."""
    clean = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not clean[:1].isalpha():
        clean = f"w-{clean}".rstrip("-")
    if len(clean) <= limit:
        return clean
    tail = hashlib.sha256(name.encode(errors="replace")).hexdigest()[:6]
    return f"{clean[: limit - len(tail) - 1].rstrip('-')}-{tail}"
