"""Admission: JobSet's webhooks, and a plain no to what is not emulated."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from xlaunch.local.controllers import unsupported
from xlaunch.local.controllers.jobset import admission, pod_admission
from xlaunch.local.kube import Hooks


def hooks(gates: Collection[str] = ()) -> Hooks:
    """The hooks of each resource, in the order of the calls. `gates`: JobSet's feature gates that are on."""
    return {
        "jobsets": (admission.default, unsupported.refuse_jobset, partial(admission.validate, gates=gates)),
        "jobs": (unsupported.refuse_job,),
        "pods": (pod_admission.place, unsupported.refuse_pod, pod_admission.admit),
    }
