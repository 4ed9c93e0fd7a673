import shlex

import pytest

from xlaunch.demo import blog


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_the_command_can_be_pasted_at_any_width(width):
    text = blog.command_line("demo-1", width)
    assert all(len(line) <= width for line in text.splitlines() if "gs://" not in line)
    assert shlex.split(text.replace("\\\n", " ")) == [
        *["xlaunch", "workload", "create-pathways", "--cluster=local:demo-1"],
        *[f"{flag}={value}" for flag, value in blog.FLAGS.items()],
        "--",
        *blog.TRAINING,
    ]


def test_it_is_the_blogs_command():
    text = blog.command_line("demo-1", 200)
    for words in ("--tpu-type=v5litepod-16", "--num-slices=3", "--elastic-slices=3", "--max-slice-restarts=10"):
        assert words in text
