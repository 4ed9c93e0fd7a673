import pytest

from xlaunch.core.errors import UsageError
from xlaunch.core.scratch import check_location, from_command


@pytest.mark.parametrize(
    ("location", "found"),
    [
        ("gs://my-bucket", "gs://my-bucket"),
        ("gs://my-bucket/", "gs://my-bucket"),
        ("gs://my-bucket/a/b c/é", "gs://my-bucket/a/b c/é"),
        ("gs://a.b_c-1/x", "gs://a.b_c-1/x"),
    ],
)
def test_locations(location, found):
    assert check_location("--x", location) == found


@pytest.mark.parametrize(
    "location",
    [
        "",
        "gs://",
        "gs:///x",
        "my-bucket",
        "s3://b/x",
        "gs://B/x",
        "gs://ab",
        "gs://a b/x",
        "gs://abc/x\ny",
        "gs://-abc",
    ],
)
def test_what_is_no_location(location):
    with pytest.raises(UsageError, match="not a Cloud Storage location"):
        check_location("--x", location)


@pytest.mark.parametrize("location", ["gs://cloud-pathways-staging", "gs://cloud-pathways-staging/tmp"])
def test_googles_own_bucket_is_refused(location):
    with pytest.raises(UsageError, match="Google's own bucket"):
        check_location("--x", location)


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (["python3 t.py base_output_directory=gs://abc/out steps=1"], "gs://abc/out"),
        (["t \\\n  base_output_directory=gs://abc/out \\\n  x=1"], "gs://abc/out"),
        (["t 'base_output_directory=gs://abc/a b'"], "gs://abc/a"),
        (["t base_output_directory='gs://abc/a b'"], "gs://abc/a b"),
        (['t base_output_directory="gs://abc/a"'], "gs://abc/a"),
        (["t --base_output_directory=gs://abc/a"], "gs://abc/a"),
        (["t base_output_directory=gs://abc/a;echo"], "gs://abc/a"),
        (["t base_output_directory=gs://abc/a base_output_directory=gs://abc/b/"], "gs://abc/b"),
        (["t my_base_output_directory=gs://abc/a"], ""),
        (["t base_output_directory=/tmp/x"], ""),
        (["t base_output_directory=gs://$BUCKET/a"], ""),
        (["t base_output_directory=gs://abc/$(date)"], ""),
        (["python3", "t.py", "base_output_directory=gs://abc/a b"], "gs://abc/a b"),
        (["t", "--base_output_directory=gs://abc/a"], "gs://abc/a"),
        (["t", "x", "base_output_directory=gs://abc/$(X)"], ""),
        (["t", "echo base_output_directory=gs://abc/a"], ""),
        ([], ""),
    ],
)
def test_the_commands_own_output_directory(command, found):
    assert from_command(command) == (f"{found}/pathways-scratch" if found else "")
