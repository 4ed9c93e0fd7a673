"""Names and labels by Kubernetes' rules and in its words.

k8s.io/apimachinery 0.36, pkg/api/validate/content and, for DNS-1035, pkg/util/validation. Each function returns what is
wrong with a value, [] for nothing.
"""

from __future__ import annotations

import re

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_QUALIFIED})?"


def dns_label(value: str) -> list[str]:
    """A DNS-1123 label: names of namespaces, containers, hosts."""
    text = (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
        "with an alphanumeric character (e.g. 'my-name',  or '123-abc'"
    )
    found = _problems(value, _LABEL, text, 63, unit="characters")
    # What could be a subdomain can only be wrong in this
    return [*found[:-1], "must not contain dots"] if "." in value and re.fullmatch(_SUBDOMAIN, value) else found


def dns_1035_label(value: str) -> list[str]:
    """A DNS-1035 label: names of Services and of what JobSet makes."""
    text = (
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123'"
    )
    return _problems(value, _LABEL_1035, text, 63, unit="characters")


def subdomain(value: str) -> list[str]:
    """A DNS-1123 subdomain: names of most objects."""
    text = (
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com'"
    )
    return _problems(value, _SUBDOMAIN, text, 253, unit="characters")


def label_value(value: str) -> list[str]:
    """The value of a label."""
    text = (
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345'"
    )
    return _problems(value, _VALUE, text, 63)


def label_key(value: str) -> list[str]:
    """The key of a label: a name, or `domain/name`."""
    text = (
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'MyName',  or 'my.name',  or '123-abc'"
    )
    prefix, slash, name = value.rpartition("/")
    found = [f"prefix part {each}" for each in subdomain(prefix)] if prefix else []
    if slash and not prefix:
        found = ["prefix part must be non-empty"]
    empty = [] if name else ["must be non-empty"]
    return [*found, *(f"name part {each}" for each in [*empty, *_problems(name, _QUALIFIED, text, 63)])]


def port_name(value: str) -> list[str]:
    """The name of a container's port."""
    found = ["must be no more than 15 characters"] if len(value) > 15 else []
    if not re.fullmatch("[-a-z0-9]+", value):
        found.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", value):
        found.append("must contain at least one letter (a-z)")
    if "--" in value:
        found.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        found.append("must not begin or end with a hyphen")
    return found


def config_key(value: str) -> list[str]:
    """A key of a ConfigMap or Secret."""
    text = (
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
        "'KEY_NAME',  or 'key-name'"
    )
    found = _problems(value, "[-._a-zA-Z0-9]+", text, 253, unit="characters")
    if value in (".", "..") or value.startswith(".."):
        found.append(
            "must not be '.'" if value == "." else "must not be '..'" if value == ".." else "must not start with '..'"
        )
    return found


def _problems(value: str, pattern: str, text: str, most: int, *, unit: str = "bytes") -> list[str]:
    found = [f"must be no more than {most} {unit}"] if len(value.encode()) > most else []
    if not re.fullmatch(pattern, value):
        found.append(f"{text}, regex used for validation is '{pattern}')")
    return found
