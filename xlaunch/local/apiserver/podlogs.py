"""pods/log: what a request asks for, and which container's log it means."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from xlaunch.local.apiserver.requests import flag, number
from xlaunch.local.kube import Object, StatusError, bad_request, not_implemented
from xlaunch.local.logs import LogOptions


def options_of(query: Mapping[str, str]) -> LogOptions:
    """The options of a request; 400 for what does not parse, 422 for what contradicts itself."""
    if query.get("stream", "All") != "All":
        raise not_implemented("logs of one stream (stream=Stdout or Stderr)")
    since = query.get("sinceTime", "")
    try:
        since_time = datetime.fromisoformat(since) if since else None
    except ValueError as error:
        raise bad_request(f'sinceTime: Invalid value: "{since}": {error}') from error
    options = LogOptions(
        follow=flag(query, "follow"),
        previous=flag(query, "previous"),
        tail_lines=number(query, "tailLines"),
        since_time=since_time,
        since_seconds=number(query, "sinceSeconds"),
        limit_bytes=number(query, "limitBytes"),
        timestamps=flag(query, "timestamps"),
    )
    _check(options)
    return options


def _check(options: LogOptions) -> None:
    """The rules of kubernetes v1.37, pkg/apis/core/validation/validation.go, ValidatePodLogOptions."""
    problem = ""
    if options.tail_lines is not None and options.tail_lines < 0:
        problem = f"tailLines: Invalid value: {options.tail_lines}: must be greater than or equal to 0"
    if options.limit_bytes is not None and options.limit_bytes < 1:
        problem = f"limitBytes: Invalid value: {options.limit_bytes}: must be greater than 0"
    if options.since_seconds is not None and options.since_seconds < 1:
        problem = f"sinceSeconds: Invalid value: {options.since_seconds}: must be greater than 0"
    if options.since_seconds is not None and options.since_time is not None:
        problem = "sinceSeconds: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"
    if problem:
        raise StatusError(422, "Invalid", f'PodLogOptions "" is invalid: {problem}')


def container_of(pod: Object, asked: str) -> str:
    """The container that a request means; 400 for one that the pod has not, or where it must be named."""
    name, spec = pod["metadata"]["name"], pod["spec"]
    main = [each["name"] for each in spec.get("containers", [])]
    init = [each["name"] for each in spec.get("initContainers", [])]
    if asked in (*main, *init):
        return asked
    if asked:
        raise bad_request(f"container {asked} is not valid for pod {name}")
    if len(main) == 1 and not init:
        return str(main[0])
    choice = f"choose one of: [{' '.join(main)}]" + (
        f" or one of the init containers: [{' '.join(init)}]" if init else ""
    )
    raise bad_request(f"a container name must be specified for pod {name}, {choice}")
