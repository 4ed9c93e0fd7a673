"""Admission: JobSet's webhooks, and a plain no to what is not emulated. Resource -> hooks in the order they run.

The first hook of a resource may change the object; the API server validates then, and the others only refuse.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from xlaunch.local.controllers import unsupported
from xlaunch.local.controllers.jobset import admission, pod_admission
from xlaunch.local.kube import Kube, Object

Hook = Callable[[Kube, Object, Object | None], Awaitable[Object]]
"""Called with the new object and, on an update, the old one; returns the object to store or raises StatusError."""

HOOKS: Mapping[str, Sequence[Hook]] = {
    "jobsets": (admission.default, unsupported.refuse_jobset, admission.validate),
    "jobs": (unsupported.refuse_job,),
    "pods": (pod_admission.place, unsupported.refuse_pod, pod_admission.admit),
}
