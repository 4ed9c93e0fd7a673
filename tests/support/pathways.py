"""What the tests of create-pathways share: a line that is right, and the parts of what it prints."""

import yaml

LINE = ("--workload=demo", "--tpu-type=v5litepod-16", "--pathways-gcs-location=gs://my-bucket/tmp")
IMAGE = ("--docker-image=img",)
COMMAND = ("--command=true",)


def create(xlaunch, *flags, base=(*LINE, *IMAGE, *COMMAND), rest=(), **session):
    """A dry run of the line with more flags; flags that are given again replace those of the line."""
    given = {flag.partition("=")[0] for flag in flags}
    kept = [flag for flag in (*base, "--dry-run") if flag.partition("=")[0] not in given]
    return xlaunch("workload", "create-pathways", *kept, *flags, *rest, **session)


def rendered(xlaunch, *flags, **session):
    """The manifest of a dry run that must succeed."""
    done = create(xlaunch, *flags, **session)
    assert done.code == 0, done.stderr
    return yaml.safe_load(done.stdout)


def job(manifest, name):
    return next(job for job in manifest["spec"]["replicatedJobs"] if job["name"] == name)


def pod(manifest, name):
    return job(manifest, name)["template"]["spec"]["template"]


def container(manifest, name):
    for role in ("pathways-head", "worker"):
        spec = pod(manifest, role)["spec"]
        for each in [*spec.get("initContainers", ()), *spec["containers"]]:
            if each["name"] == name:
                return each
    raise AssertionError(f"no container {name}")


def env(container_):
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in container_["env"]}
