"""A pod that wants the TPUs of a node more than the worker that has them."""

import json
from contextlib import contextmanager

from looking import FORCED

CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 9}


@contextmanager
def preempting(cluster, node):
    """The pod `preemptor` wants that node; at the end it is gone, also from one that is silent."""
    for each in (CLASS, preemptor(node)):
        cluster.kubectl("apply", "-f", "-", stdin=json.dumps(each))
    try:
        yield
    finally:
        cluster.kubectl("delete", "pod", "preemptor", *FORCED)


def preemptor(node):
    """The pod that fits nowhere else."""
    resources = {"limits": {"google.com/tpu": "4"}}
    container = {"name": "main", "image": "none", "command": ["sleep", "1000"], "resources": resources}
    spec = {
        "containers": [container],
        "nodeSelector": {"kubernetes.io/hostname": node},
        "priorityClassName": "urgent",
        "terminationGracePeriodSeconds": 1,
        "tolerations": [{"operator": "Exists"}],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "preemptor"}, "spec": spec}
