"""From the flags of `create-pathways` to what is asked of a Pathways workload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xlaunch.cli import files
from xlaunch.cli.create_options import CreateOptions
from xlaunch.core import capacity, env, exit_codes, labels, scratch
from xlaunch.core.errors import UsageError
from xlaunch.core.render import parse
from xlaunch.core.restart_scope import AUTO, POD, SLICE
from xlaunch.core.spec import DEFAULT_HEAD_SELECTOR, DEFAULT_PROXY_IMAGE, DEFAULT_SERVER_IMAGE, PathwaysSpec
from xlaunch.core.tpu import lookup
from xlaunch.core.words import check_text, shell_words

NODE_POOL = "cloud.google.com/gke-nodepool"
NO_QUEUE = "none"


def spec_of(options: CreateOptions, rest: tuple[str, ...] | None, caller: Mapping[str, str]) -> PathwaysSpec:
    """What the flags ask for; `rest` are the words after `--`, `caller` the environment of this command.

    Without --namespace it is `default`, which a submission replaces by its connection's.
    """
    if options.scratch not in ("emptyDir", "hostPath"):
        raise UsageError(
            f"--scratch {options.scratch} is neither emptyDir nor hostPath",
            why="It says what /tmp of the pods is; Pathways' own files go to --pathways-gcs-location",
            next="Leave it away for emptyDir",
        )
    if options.headless:
        _check_headless(options, rest)
    command, args = ((), ()) if options.headless else _command(options, rest)
    machines = capacity.capacity(
        on_demand=options.on_demand, spot=options.spot, flex=options.flex, reservation=options.reservation
    )
    return PathwaysSpec(
        name=options.workload,
        namespace=options.namespace or "default",
        tpu=lookup(options.tpu_type, options.machine_type or None),
        scratch=_scratch(options, args if options.command is not None else command),
        num_slices=options.num_slices,
        elastic_slices=options.elastic_slices,
        max_slice_restarts=options.max_slice_restarts,
        max_restarts=options.max_restarts,
        restart_scope=_restart_scope(options),
        auto_scope=options.restart_scope == AUTO,
        restart_exit_codes=exit_codes.parse(options.restart_on_exit_codes),
        headless=options.headless,
        container=options.docker_name,
        image=options.docker_image,
        command=command,
        args=args,
        env=_env(options, caller),
        debug_logs=options.enable_debug_logs,
        persistence=options.persistence,
        server_image=options.server_image or DEFAULT_SERVER_IMAGE,
        proxy_image=options.proxy_server_image or DEFAULT_PROXY_IMAGE,
        worker_image=options.worker_image,
        sidecar_image=options.colocated_python_sidecar_image,
        server_args=shell_words("--custom-pathways-server-args", options.custom_pathways_server_args),
        proxy_args=shell_words("--custom-pathways-proxy-server-args", options.custom_pathways_proxy_server_args),
        worker_args=shell_words("--custom-pathways-worker-args", options.custom_pathways_worker_args),
        main_cpu=options.main_cpu,
        main_memory=options.main_memory,
        proxy_memory=options.proxy_memory,
        rm_memory=options.rm_memory,
        queue="" if options.queue == NO_QUEUE else options.queue,
        priority=options.priority,
        scheduler=options.scheduler,
        service_account=options.service_account,
        pull_secret=options.docker_image_pull_secret,
        labels=_labels(options),
        annotations=_annotations(options),
        head_selector=_head_selector(options),
        worker_selector=machines.selector,
        worker_tolerations=machines.tolerations,
        worker_toleration_seconds=options.worker_toleration_seconds,
        grace_seconds=options.termination_grace_period_seconds,
        ttl_seconds=options.ttl_seconds_after_finished,
        host_network=not options.no_host_network,
        tmp=options.scratch,
    )


def patch_of(options: CreateOptions) -> dict[str, Any] | None:
    """The merge patch of --patch, None without one."""
    return parse(files.read("--patch", options.patch), f"--patch {options.patch}") if options.patch else None


def choices(options: CreateOptions) -> list[str]:
    """What to tell about choices that flags leave open: the restart scope, and the head's place."""
    lines = []
    if options.restart_scope == AUTO and options.dry_run == "client":
        lines.append("Note: --restart-scope=auto means pod where no cluster is asked.")
    if options.head_node_selector and options.head_nodepool:
        lines.append("Note: --head-nodepool is not used, since --head-node-selector says where the head runs.")
    if not options.head_node_selector and not options.head_nodepool:
        lines.append("Note: the head runs in node pool cpu-np, as with xpk; --head-nodepool NAME takes another.")
    return lines


def _command(options: CreateOptions, rest: tuple[str, ...] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The main container's command and args: `bash -c LINE` as in xpk, or the argv after `--`, without a shell."""
    if options.command is not None and rest is not None:
        raise UsageError(
            "There are two commands: --command and the words after --",
            next="Keep one; the words after -- need no quoting",
        )
    if options.command is not None:
        check_text("--command", options.command)
        if not options.command.strip():
            raise UsageError("--command is empty", next="Give the training command, or --headless for none")
        return ("bash", "-c"), (options.command,)
    for word in rest or ():
        check_text("the command after --", word)
    if rest and not rest[0]:
        raise UsageError(
            "The command after -- begins with an empty word",
            why="Its first word is the program",
            next="-- python3 train.py",
        )
    if rest and len(rest) == 1 and len(rest[0].split()) > 1:
        raise UsageError(
            "The command after -- is one word with blanks in it",
            why="The pod would look for a program of that whole name",
            next="Take the quotes away, or give the line to --command",
        )
    return rest or (), ()


def _restart_scope(options: CreateOptions) -> str:
    if options.restart_scope not in (POD, SLICE, AUTO):
        raise UsageError(
            f"--restart-scope {options.restart_scope} is none of pod, slice and auto",
            why="It says what the loss of a host restarts: that host, its whole slice, or what the cluster is able to",
            next="Leave it away for pod",
        )
    # Until a cluster is asked, auto is what every cluster is able to
    return POD if options.restart_scope == AUTO else options.restart_scope


def _check_headless(options: CreateOptions, rest: tuple[str, ...] | None) -> None:
    given = {
        "--command": options.command is not None,
        "the command after --": rest is not None,
        "--docker-image": bool(options.docker_image),
        "--env": bool(options.env),
        "--env-file": bool(options.env_file),
        "--env-secret": bool(options.env_secret),
        "--persistence": options.persistence,
        "--enable-debug-logs": options.enable_debug_logs,
        "--restart-on-exit-codes": bool(options.restart_on_exit_codes),
    }
    for flag, is_given in given.items():
        if is_given:
            raise UsageError(
                f"--headless and {flag} contradict each other",
                why="A headless workload has no main container; your program connects to its proxy from elsewhere",
                next="Leave one of them away",
            )


def _scratch(options: CreateOptions, command: tuple[str, ...]) -> str:
    if options.pathways_gcs_location:
        return scratch.check_location("--pathways-gcs-location", options.pathways_gcs_location)
    found = scratch.from_command(command)
    if not found:
        raise scratch.required()
    return scratch.check_location("The command's base_output_directory", found)


def _env(options: CreateOptions, caller: Mapping[str, str]) -> tuple[env.EnvVar, ...]:
    text = files.read("--env-file", options.env_file) if options.env_file else None
    return env.collect(options.env, text, options.env_secret, caller)


def _labels(options: CreateOptions) -> dict[str, str]:
    found = labels.parse_labels("--label", options.label)
    labels.check_not_reserved("--label", found)
    return found


def _annotations(options: CreateOptions) -> dict[str, str]:
    found = labels.parse_annotations("--annotation", options.annotation)
    labels.check_not_reserved("--annotation", found)
    return found


def _head_selector(options: CreateOptions) -> dict[str, str]:
    if options.head_node_selector:
        return labels.parse_labels("--head-node-selector", options.head_node_selector)
    if options.head_nodepool:
        return labels.parse_labels("--head-nodepool", [f"{NODE_POOL}={options.head_nodepool}"])
    return dict(DEFAULT_HEAD_SELECTOR)
