"""`xlaunch workload create-pathways`: render, check, and print or submit."""

from __future__ import annotations

import typer

from xlaunch.cli import files, shipped
from xlaunch.cli.command import examples, rest_of, session_of
from xlaunch.cli.create_options import CreateOptions
from xlaunch.cli.create_spec import choices, patch_of, spec_of
from xlaunch.cli.create_terms import Terms
from xlaunch.cli.fields import takes
from xlaunch.cli.output import Result
from xlaunch.cli.planner import Planner
from xlaunch.cli.xpk_flags import PATHWAYS_FLAGS
from xlaunch.core.errors import UsageError

OPTIONAL_VALUES = {"--dry-run": "client"}
TAKES_REST = True


@examples(
    """
xlaunch workload create-pathways --workload=demo --tpu-type=v5litepod-16 --num-slices=3 --elastic-slices=3 \\
    --max-slice-restarts=10 --docker-image=gcr.io/p/maxtext:1 --cluster=my-gke --project=p \\
    -- python3 -m maxtext.trainers.pre_train.train base.yml run_name=demo base_output_directory=gs://my-bucket/out
xlaunch workload create-pathways ... --dry-run > demo.yaml
xlaunch workload create-pathways ... --cluster=my-gke --dry-run=server
xlaunch workload create-pathways ... --cluster=my-gke --diff
xlaunch workload create-pathways ... --cluster=my-gke --restart-scope=auto
xlaunch workload create-pathways ... --cluster=local --follow
"""
)
@takes(CreateOptions, foreign=PATHWAYS_FLAGS)
def command(ctx: typer.Context, options: CreateOptions) -> Result:
    """Renders a Pathways JobSet from a template, checks it, and submits it.

    The training command is given after --, where no shell touches it, or as xpk does with --command. In it and in
    --env, $(NAME) is replaced by Kubernetes where NAME is a variable of the container, and $$(NAME) stands for
    $(NAME); nothing is escaped. xpk's flags keep their names and meaning.
    """
    session = session_of(ctx)
    mode, terms = mode_of(options), Terms.of(options)
    spec = spec_of(options, rest_of(ctx), session.env)
    template = files.read("--template", options.template) if options.template else shipped.text(shipped.PATHWAYS)
    planner = Planner(template, patch_of(options), options.output_manifest_file)
    plan = planner.make(spec)
    for notice in choices(options):
        session.notice(notice)
    if mode == "client":
        planner.keep(plan)
        return Result("JobSet", plan.manifest, [plan.text], bare=True, notices=plan.notices)

    from xlaunch.cli.create_submit import Submit, target_of

    target = target_of(options)
    if mode == "server":
        from xlaunch.cli.create_dry_run import dry_run

        return dry_run(session, target, terms, spec, planner)
    if mode == "diff":
        from xlaunch.cli.create_diff import diff

        return diff(session, target, terms, spec, planner)
    return Submit(target, terms).run(session, spec, planner)


def mode_of(options: CreateOptions) -> str:
    """What becomes of the plan: dry runs ("client", "server"), "diff", or "" for a submission. Raises UsageError."""
    if options.dry_run not in ("", "client", "server"):
        raise UsageError(
            f"--dry-run={options.dry_run} is not a kind of dry run", next="Use --dry-run, or --dry-run=server"
        )
    if options.dry_run and options.no_dry_run:
        raise UsageError("--dry-run and --no-dry-run contradict each other", next="Keep one")
    if not options.diff:
        return options.dry_run
    given = {
        "--dry-run": bool(options.dry_run),
        "--no-dry-run": options.no_dry_run,
        "--follow": options.follow,
        "--wait": options.wait,
    }
    for flag, is_given in given.items():
        if is_given:
            raise UsageError(
                f"--diff and {flag} contradict each other",
                why="A diff is all that --diff prints, and it submits nothing",
                next="Keep one",
            )
    return "diff"
