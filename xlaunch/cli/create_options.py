"""The flags of `workload create-pathways`: xpk's under their names and with their meaning, and ours."""

# Annotations must be values here (see fields.takes): no `from __future__ import annotations`
from xlaunch.cli.fields import REQUIRED, Flags, flag
from xlaunch.cli.target_flags import (
    ClusterOption,
    ContextOption,
    KubeconfigOption,
    LocationOption,
    NamespaceOption,
    OutputOption,
    ProjectOption,
)


class Command(Flags):
    """What runs: the training command and where it comes from."""

    workload: str = flag("--workload", metavar="NAME", default=REQUIRED, help="The workload's name.")
    tpu_type: str = flag("--tpu-type", metavar="TYPE", default=REQUIRED, help="One slice: v5litepod-16, v5p-4x4x8.")
    num_slices: int = flag("--num-slices", metavar="N", default=1, help="How many slices [1].")
    machine_type: str = flag("--machine-type", metavar="TYPE", help="Hosts other than GKE's default: ct6e-standard-8t.")
    command: str | None = flag(
        "--command",
        metavar="LINE",
        default=None,
        help="The training command, run as bash -c LINE. Better: give it after -- as it is.",
    )
    headless: bool = flag("--headless", default=False, help="No command: only the resource manager and the proxy.")
    docker_image: str = flag("--docker-image", metavar="IMAGE", help="The command's image.")
    docker_name: str = flag("--docker-name", metavar="NAME", default="main", help="Its container's name [main].")
    docker_image_pull_secret: str = flag("--docker-image-pull-secret", metavar="NAME", help="The secret to pull with.")
    env: list[str] = flag(
        "--env", metavar="NAME[=VALUE]", default=[], help="A variable of the command; NAME alone takes your own value."
    )
    env_file: str = flag("--env-file", metavar="FILE", help="Variables, by python-dotenv's rules.")
    env_secret: list[str] = flag(
        "--env-secret", metavar="NAME=SECRET/KEY", default=[], help="A variable out of a Kubernetes secret."
    )
    persistence: bool = flag("--persistence", default=False, help="Let workers write checkpoints, not the proxy.")
    enable_debug_logs: bool = flag("--enable-debug-logs", default=False, help="The TPU runtime's verbose logs.")
    main_cpu: str = flag("--main-cpu", metavar="CPUS", default="24", help="The command's CPUs [24].")
    main_memory: str = flag("--main-memory", metavar="SIZE", default="100G", help="The command's memory [100G].")


class Restarts(Flags):
    """What is survived, and how often."""

    elastic_slices: int = flag("--elastic-slices", metavar="N", default=0, help="How many slices may be down [0].")
    max_slice_restarts: int | None = flag(
        "--max-slice-restarts",
        metavar="N",
        default=None,
        help="Losses of each slice [1 if elastic, else 4]; N times its hosts as pods.",
    )
    max_restarts: int | None = flag(
        "--max-restarts", metavar="N", default=None, help="Restarts of the whole workload [3 if elastic, else 0]."
    )
    restart_scope: str = flag(
        "--restart-scope",
        metavar="pod|slice|auto",
        values=("pod", "slice", "auto"),
        default="pod",
        help="What the loss of a host restarts [pod].",
    )
    restart_on_exit_codes: str = flag(
        "--restart-on-exit-codes", metavar="CODES", help="Restart only after these, 42 and 127-255; as 1,3-5."
    )
    worker_toleration_seconds: int = flag(
        "--worker-toleration-seconds", metavar="S", default=30, help="Workers' patience with a lost node [30]."
    )
    termination_grace_period_seconds: int = flag(
        "-tgps", "--termination-grace-period-seconds", metavar="S", default=30, help="Of the workers [30]."
    )
    ttl_seconds_after_finished: int = flag(
        "--ttl-seconds-after-finished", metavar="S", default=604800, help="How long a finished one stays [7 days]."
    )


class Pathways(Flags):
    """Pathways' own parts."""

    pathways_gcs_location: str = flag(
        "--pathways-gcs-location",
        metavar="gs://BUCKET/PATH",
        help="Scratch files [below the command's own base_output_directory].",
    )
    proxy_server_image: str = flag("--proxy-server-image", metavar="IMAGE", help="The proxy's image.")
    server_image: str = flag("--server-image", metavar="IMAGE", help="The resource manager's and workers' image.")
    worker_image: str = flag("--worker-image", metavar="IMAGE", help="The workers' image, where it differs.")
    colocated_python_sidecar_image: str = flag(
        "--colocated-python-sidecar-image", metavar="IMAGE", help="A Python server beside each worker."
    )
    custom_pathways_server_args: str = flag(
        "--custom-pathways-server-args", metavar="ARGS", help="For the resource manager; split like a shell line."
    )
    custom_pathways_proxy_server_args: str = flag(
        "--custom-pathways-proxy-server-args", metavar="ARGS", help="For the proxy."
    )
    custom_pathways_worker_args: str = flag("--custom-pathways-worker-args", metavar="ARGS", help="For the workers.")
    proxy_memory: str = flag("--proxy-memory", metavar="SIZE", default="100G", help="The proxy's memory [100G].")
    rm_memory: str = flag("--rm-memory", metavar="SIZE", default="32G", help="The resource manager's memory [32G].")


class Placement(Flags):
    """Where it runs inside the cluster, and under which names."""

    queue: str = flag(
        "--queue", metavar="NAME", default="multislice-queue", help="Kueue's queue [multislice-queue], or none."
    )
    priority: str = flag("--priority", metavar="CLASS", help="A priority class, for head and workers.")
    scheduler: str = flag("--scheduler", metavar="NAME", help="A scheduler other than the default.")
    service_account: str = flag("--service-account", metavar="NAME", help="The pods' service account.")
    on_demand: bool = flag("--on-demand", default=False, help="On-demand machines.")
    spot: bool = flag("--spot", default=False, help="Spot machines.")
    flex: bool = flag("--flex", default=False, help="Flex-start machines.")
    reservation: str = flag("--reservation", metavar="NAME", help="The machines of a reservation.")
    head_nodepool: str = flag("--head-nodepool", metavar="NAME", help="The head's node pool [cpu-np].")
    head_node_selector: list[str] = flag(
        "--head-node-selector", metavar="KEY=VALUE", default=[], help="The head's nodes, instead of a pool."
    )
    label: list[str] = flag("--label", metavar="KEY=VALUE", default=[], help="For the JobSet and every pod.")
    annotation: list[str] = flag("--annotation", metavar="KEY=VALUE", default=[], help="For the JobSet and every pod.")
    no_host_network: bool = flag("--no-host-network", default=False, help="Give the pods their own addresses.")
    scratch: str = flag(
        "--scratch", metavar="emptyDir|hostPath", default="emptyDir", help="What /tmp of the pods is [emptyDir]."
    )


class Doing(Flags):
    """What is done with the manifest."""

    dry_run: str = flag(
        "--dry-run",
        metavar="[=client|server]",
        values=("client", "server"),
        help="Print the manifest and touch no cluster; with =server ask the API server whether it would take it.",
    )
    no_dry_run: bool = flag("--no-dry-run", default=False, help="Submit, which is the default.")
    diff: bool = flag(
        "--diff", default=False, help="Print what differs from the workload of that name; 5 is the exit code then."
    )
    output_manifest_file: str = flag("--output-manifest-file", metavar="FILE", help="Write the manifest here too.")
    template: str = flag("--template", metavar="FILE", help="A template of your own (see xlaunch template export).")
    patch: str = flag("--patch", metavar="FILE", help="A JSON merge patch (RFC 7386) on the manifest, as YAML or JSON.")
    if_exists: str = flag(
        "--if-exists", metavar="replace|replace-finished|skip", help="What to do when the name is taken by another."
    )
    yes: bool = flag("--yes", "-y", "--quiet", default=False, help="Ask nothing.")
    follow: bool = flag("--follow", "-f", default=False, help="Then follow the logs, as xlaunch logs does.")
    wait: bool = flag("--wait", default=False, help="Then wait for the end, as xlaunch wait does.")
    submit_timeout: str = flag(
        "--submit-timeout", metavar="TIME", default="2m", help="How long to retry a busy API server [2m]."
    )
    timeout: str = flag("--timeout", metavar="TIME", default="5m", help="For a replaced workload to be gone [5m].")


class CreateOptions(Doing, Placement, Pathways, Restarts, Command):
    """All flags of the command; `--help` lists those of the last base first."""

    cluster: ClusterOption = ""
    project: ProjectOption = ""
    location: LocationOption = ""
    context: ContextOption = ""
    kubeconfig: KubeconfigOption = ""
    namespace: NamespaceOption = ""
    output: OutputOption = ""
