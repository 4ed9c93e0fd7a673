"""The command of Google's blog post "We terminated a TPU mid-training", and what the rehearsal does to its run.

Slices, elastic slices, restarts and the lost worker are the post's; the training flags are those of MaxText's guide
docs/run_maxtext/run_maxtext_elastic_training.md (v0.2.4), which deletes a worker as the post does: at once, by force.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

NAME = "pw-elastic"
TPU_TYPE = "v5litepod-16"
SLICES = 3
CHECKPOINT_PERIOD = 100
# Slice 2, host 0: pod pw-elastic-worker-2-0-xxxxx
LOST_SLICE, LOST_HOST = 2, 0
# How many steps after a committed checkpoint the worker dies, so that there is something to lose
STEPS_INTO_PERIOD = 30

FLAGS = {
    "--workload": NAME,
    "--tpu-type": TPU_TYPE,
    "--num-slices": str(SLICES),
    "--elastic-slices": "3",
    "--max-slice-restarts": "10",
    "--docker-image": "gcr.io/my-project/maxtext:latest",
}
TRAINING = (
    *("python3", "-m", "maxtext.trainers.pre_train.train", "src/maxtext/configs/base.yml"),
    *(f"run_name={NAME}", "base_output_directory=gs://my-bucket/output", "model_name=qwen3-0.6b"),
    *("dataset_type=synthetic", "per_device_batch_size=1", "steps=5000", "enable_checkpointing=true"),
    *(f"checkpoint_period={CHECKPOINT_PERIOD}", "enable_single_controller=True", "elastic_enabled=true"),
    *("elastic_timeout_seconds=300", "elastic_max_retries=10"),
)


def command_line(cluster: str, width: int) -> str:
    """The whole command as one would type it, broken with backslashes to fit `width` columns."""
    words = ["xlaunch workload create-pathways", f"--cluster=local:{cluster}"]
    words += [f"{flag}={value}" for flag, value in FLAGS.items()]
    words += ["--", "python3 -m maxtext.trainers.pre_train.train", *map(shlex.quote, TRAINING[3:])]
    return folded(words, width)


def folded(words: Sequence[str], width: int) -> str:
    """Words in lines of at most `width` columns, ended by a backslash where the command goes on."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 > width:
            lines.append(f"    {word}")
        else:
            lines[-1] += f" {word}"
    return " \\\n".join(lines)
