"""Names, labels and generated suffixes: the rules of k8s.io/apimachinery, pkg/util/validation/validation.go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from random import Random

from xlaunch.local.apiserver.problems import Problem, invalid
from xlaunch.local.apiserver.resources import Resource

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
LABEL_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_KEY_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"  # apimachinery, pkg/util/rand: no vowels, no look-alikes


def generated(prefix: str, random: Random) -> str:
    """A name from `generateName`: the prefix, cut to 58 characters, and five random ones."""
    return prefix[:58] + "".join(random.choices(_SUFFIX, k=5))


def subdomain(value: str) -> str:
    """What is wrong with a DNS-1123 subdomain; "" if nothing."""
    if len(value) > 253:
        return "must be no more than 253 bytes"
    return "" if re.fullmatch(_SUBDOMAIN, value) else SUBDOMAIN_TEXT


def dns_label(value: str) -> str:
    """What is wrong with a DNS-1123 label; "" if nothing."""
    if len(value) > 63:
        return "must be no more than 63 bytes"
    return "" if re.fullmatch(_LABEL, value) else LABEL_TEXT


def dns_1035_label(value: str) -> str:
    """What is wrong with a DNS-1035 label; "" if nothing."""
    if len(value) > 63:
        return "must be no more than 63 bytes"
    return "" if re.fullmatch("[a-z]([-a-z0-9]*[a-z0-9])?", value) else LABEL_1035_TEXT


_NAME_RULES = {"namespaces": dns_label, "services": dns_1035_label}


def check_name(resource: Resource, name: str) -> Iterator[Problem]:
    """The rule for the names of one resource."""
    if problem := _NAME_RULES.get(resource.plural, subdomain)(name):
        yield invalid("metadata.name", name, problem)


def check_labels(labels: Mapping[str, str], path: str) -> Iterator[Problem]:
    """Label keys and values, also those of node selectors."""
    for key, value in labels.items():
        prefix, _, name = key.rpartition("/")
        if len(name) > 63 or not re.fullmatch(_QUALIFIED, name) or (prefix and subdomain(prefix)):
            yield invalid(path, key, "name part must be no more than 63 bytes" if len(name) > 63 else _KEY_TEXT)
        if len(value.encode()) > 63:
            yield invalid(path, value, "must be no more than 63 bytes")
        elif not re.fullmatch(f"({_QUALIFIED})?", value):
            yield invalid(path, value, _VALUE_TEXT)
