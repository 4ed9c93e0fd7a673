import pytest

from xlaunch.core import images
from xlaunch.core.errors import UsageError


@pytest.mark.parametrize(
    "image",
    ["img", "maxtext:1", "gcr.io/my-proj/maxtext:1", "gcr.io/p/train-env:latest", "localhost:5000/a/b",
     "MY-REGISTRY/a:T",
     "a/b__c/d.e-f:x_Y.1", "python:3.10", "us-docker.pkg.dev/cloud-tpu-v2-images/pathways/server:20260608-jax_0.10.1",
     f"a@sha256:{'0' * 64}", f"r.io/a:1@sha256:{'f' * 64}", "[::1]:5000/a"],
)  # fmt: skip
def test_images(image):
    assert images.check_image("--docker-image", image) is None


@pytest.mark.parametrize(
    "image",
    ["", " ", "a b", "img\nx", "Img", "gcr.io/P/x", "a:", ":1", "a//b", "/a", "a/", "a@sha256:1", "a:b:c", "$IMG",
     "https://gcr.io/a", "a:" + "x" * 129, "é", "a" * 1025, "-a"],
)  # fmt: skip
def test_what_is_no_image(image):
    with pytest.raises(UsageError, match="--docker-image"):
        images.check_image("--docker-image", image)
