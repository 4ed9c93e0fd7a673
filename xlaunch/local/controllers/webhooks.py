"""The admission hooks that JobSet's webhooks are: resource -> what runs, in order, before an object is stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from xlaunch.local.controllers.jobset import admission, pod_admission
from xlaunch.local.kube import Kube, Object

Hook = Callable[[Kube, Object, Object | None], Awaitable[Object]]
"""Called with the new object and, on an update, the old one; returns the object to store or raises StatusError."""

HOOKS: Mapping[str, Sequence[Hook]] = {
    "jobsets": (admission.default, admission.validate),
    "pods": (pod_admission.place, pod_admission.admit),
}
