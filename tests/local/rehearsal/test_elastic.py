import pytest

from xlaunch.local.rehearsal.backend import JaxRuntimeError
from xlaunch.local.rehearsal.elastic import ElasticRuntimeError, Manager, ScaleUpSignalError

ALL = {0, 1, 2}


def manager(active, clock, log):
    """`active` is a set, or a list of sets: one per probe, the last one for ever."""
    answers = list(active) if isinstance(active, list) else [active]

    def probe():
        return answers.pop(0) if len(answers) > 1 else answers[0]

    return Manager(probe, 3, clock, log)


def retry(found, attempt, **changes):
    options = {"max_retries": 10, "minimum": None, "timeout": 300, "on_event": lambda: None, **changes}
    found.retry(attempt, **options)


def failing(*errors):
    """An attempt that raises these, one a run, and then succeeds."""
    left = list(errors)

    def attempt():
        if left:
            raise left.pop(0)

    return attempt


def test_waits_in_polls_of_ten_seconds(clock, log, messages):
    start = clock.now
    assert manager([{0, 2}, {0, 2}, ALL], clock, log).wait_for_slices(3, 300) == ALL
    assert clock.now - start == 20
    assert messages() == [
        "Waiting for 3 slices. Poll interval: 10, Timeout: 300",
        "2 slices active. Wanting at least 3. Active indices: {0, 2}",
        "2 slices active. Wanting at least 3. Active indices: {0, 2}",
        "Sufficient slices active: 3 >= 3. Active indices: {0, 1, 2}",
    ]


def test_gives_up_one_poll_before_the_timeout(clock, log):
    start = clock.now
    with pytest.raises(TimeoutError) as error:
        manager({0, 2}, clock, log).wait_for_slices(3, 30)
    assert clock.now - start == 20
    assert str(error.value) == (
        "Timed out waiting for 3 slices. Only 2 active after 20.00 seconds. "
        "Next check would occur after the timeout of 30 seconds."
    )


def test_a_timeout_is_not_retried(clock, log, messages):
    with pytest.raises(TimeoutError):
        retry(manager(set(), clock, log), failing(), timeout=30)
    assert sum(message.startswith("Elastic attempt") for message in messages()) == 1
    assert "0 slices active. Wanting at least 3. Active indices: set()" in messages()


def test_a_lost_slice_is_retried_after_the_clean_up(clock, log, messages):
    cleaned = []
    retry(
        manager(ALL, clock, log),
        failing(JaxRuntimeError("DATA_LOSS: slice 2")),
        on_event=lambda: cleaned.append(messages()[-1]),
    )
    assert cleaned == ["No ongoing traces to clean up"]
    assert messages()[0] == "Elastic attempt 1 out of 10"
    assert messages()[3] == "Slice down event detected. Retrying."
    assert "Elastic attempt 2 out of 10" in messages()


@pytest.mark.parametrize("code", ["DEADLINE_EXCEEDED", "NOT_FOUND", "INTERNAL"])
def test_likely_errors_are_retried_with_a_warning(code, clock, log, messages, stream):
    retry(manager(ALL, clock, log), failing(JaxRuntimeError(f"{code}: x")))
    warning = next(message for message in messages() if message.startswith("Caught an error that may"))
    assert warning.endswith("This error will be treated as due to slice down.")
    assert f"jax.errors.JaxRuntimeError: {code}: x".encode() in stream.getvalue()


@pytest.mark.parametrize(
    "error",
    [
        JaxRuntimeError("UNAVAILABLE: Connection to IFRT proxy server was terminated"),
        JaxRuntimeError("RESOURCE_EXHAUSTED: HBM"),
        ValueError("DATA_LOSS"),
    ],
)
def test_other_errors_end_it(error, clock, log, messages):
    with pytest.raises(type(error)):
        retry(manager(ALL, clock, log), failing(error))
    assert not any("Slice down" in message for message in messages())


def test_ten_retries_are_ten_attempts(clock, log):
    errors = [JaxRuntimeError("DATA_LOSS: x") for _ in range(10)]
    with pytest.raises(ElasticRuntimeError) as error:
        retry(manager(ALL, clock, log), failing(*errors))
    assert str(error.value) == "Elastic attempt 10 out of 10 failed."
    retry(manager(ALL, clock, log), failing(*errors[:9]))


@pytest.mark.parametrize("retries", [0, -1])
def test_no_retries_are_refused(retries, clock, log):
    with pytest.raises(ValueError, match="max_retries must be positive"):
        retry(manager(ALL, clock, log), failing(), max_retries=retries)


def test_fewer_slices_will_do_where_the_user_says_so(clock, log, messages):
    found = manager({0, 1}, clock, log)
    retry(found, failing(), minimum=2)
    assert found.slices == {0, 1}
    assert "Sufficient slices active: 2 >= 2. Active indices: {0, 1}" in messages()


def test_scale_up_is_an_attempt_of_its_own(clock, log, messages):
    retry(manager(ALL, clock, log), failing(ScaleUpSignalError()), max_retries=2)
    assert "Scale up requested. Retrying." in messages()
    with pytest.raises(ElasticRuntimeError):
        retry(manager(ALL, clock, log), failing(ScaleUpSignalError()), max_retries=1)
