"""Label and field selectors: parsed once, then a predicate over objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from xlaunch.local.apiserver.resources import Resource
from xlaunch.local.kube import Object, bad_request

Predicate = Callable[[Object], bool]
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_TERM = re.compile(
    r"\s*(?:(?P<not>!)\s*(?P<absent>[^\s=!,()]+)"
    r"|(?P<key>[^\s=!,()]+)\s*(?:(?P<set>in|notin)\s*\((?P<values>[^()]*)\)|(?P<op>==|=|!=)\s*(?P<value>[^\s=!,()]*))?)"
    r"\s*(?:,|$)"
)


def labels(selector: str) -> Predicate:
    """What `labelSelector=` means (k8s.io/apimachinery, pkg/labels/selector.go); 400 where it does not parse."""
    tests = [_requirement(term, selector) for term in _terms(selector)]
    return lambda each: all(test(each["metadata"].get("labels") or {}) for test in tests)


def _terms(selector: str) -> Iterable[re.Match[str]]:
    at = 0
    while at < len(selector.rstrip()):
        term = _TERM.match(selector, at)
        if not term:
            raise bad_request(f"unable to parse requirement: found {selector[at:]!r} in {selector!r}")
        yield term
        at = term.end()


def _requirement(term: re.Match[str], selector: str) -> Callable[[Mapping[str, str]], bool]:
    key = term["key"] or term["absent"]
    if not _LABEL.fullmatch(key):
        raise bad_request(f"unable to parse requirement: invalid label key {key!r} in {selector!r}")
    if term["absent"]:
        return lambda labels: key not in labels
    if term["set"]:
        values = {value.strip() for value in term["values"].split(",")}
        if term["set"] == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if term["op"]:
        value, equal = term["value"], term["op"] != "!="
        return lambda labels: (labels.get(key) == value) == equal
    return lambda labels: key in labels


def field(each: Object, path: str) -> str:
    """The value of a dotted path as field selectors see it: "" where it is absent."""
    found: Any = each
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    if isinstance(found, bool):
        return str(found).lower()
    return "" if found is None else str(found)


# Selectors whose name is not the path of the value
_PATHS: dict[str, Callable[[Object], str]] = {
    "status.successful": lambda each: str((each.get("status") or {}).get("succeeded") or 0),
    "source": lambda each: field(each, "source.component") or field(each, "reportingComponent"),
    "spec.unschedulable": lambda each: field(each, "spec.unschedulable") or "false",
    "spec.hostNetwork": lambda each: field(each, "spec.hostNetwork") or "false",
}


def fields(selector: str, resource: Resource) -> Predicate:
    """What `fieldSelector=` means; 400 where it does not parse or the resource does not offer the field."""
    allowed = {"metadata.name", *(["metadata.namespace"] if resource.namespaced else []), *resource.fields}
    tests = []
    for term in filter(None, selector.split(",")):
        match = re.fullmatch(r"([^=!]+)(==|=|!=)(.*)", term)
        if not match:
            raise bad_request(f"invalid selector: {selector!r}; can't understand {term!r}")
        path, operator, value = match.groups()
        if path not in allowed:
            found = f'Unable to find "{resource.api_version}, Resource={resource.plural}" that match label selector ""'
            raise bad_request(f'{found}, field selector "{selector}": field label not supported: {path}')
        tests.append((_PATHS.get(path) or partial(field, path=path), operator != "!=", value))
    return lambda each: all((read(each) == value) == equal for read, equal, value in tests)
