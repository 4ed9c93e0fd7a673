"""`spec.managedBy` of Jobs and JobSets: which controller is meant to act on them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlaunch.local.names import subdomain
from xlaunch.local.problems import Problem, invalid, required, too_long

FIELD = "spec.managedBy"
LONGEST = 63
_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"


def check(manager: str) -> Iterator[Problem]:
    """A domain-prefixed path (apimachinery 0.37, pkg/util/validation `IsDomainPrefixedPath`)."""
    domain, _, path = manager.partition("/")
    if not manager:
        yield required(FIELD)
    elif not domain or not path:
        yield invalid(FIELD, manager, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from (invalid(FIELD, domain, problem) for problem in subdomain(domain))
        if not re.fullmatch(_PATH, path):
            yield invalid(FIELD, path, f"Invalid path (regex used for validation is '{_PATH}')")
    if len(manager.encode()) > LONGEST:
        yield too_long(FIELD, LONGEST)
