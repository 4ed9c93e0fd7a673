"""Admission: JobSet's webhooks, and a plain no to what is not emulated."""

from __future__ import annotations

from xlaunch.local.controllers import unsupported
from xlaunch.local.controllers.jobset import admission, pod_admission
from xlaunch.local.kube import Hooks

HOOKS: Hooks = {
    "jobsets": (admission.default, unsupported.refuse_jobset, admission.validate),
    "jobs": (unsupported.refuse_job,),
    "pods": (pod_admission.place, unsupported.refuse_pod, pod_admission.admit),
}
