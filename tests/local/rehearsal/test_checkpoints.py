import shutil

import pytest

from xlaunch.local.rehearsal.checkpoints import COMMIT, CheckpointManager, clean_up, steps_in

DIRECTORY = "gs://b/o/r/checkpoints"


@pytest.fixture
def manager(tmp_path, clock, log):
    return CheckpointManager(DIRECTORY, tmp_path / "c", clock, log, background=True)


def half(path, step):
    (path / str(step) / "items").mkdir(parents=True)


def test_a_save_is_committed_last_and_restored(manager, tmp_path, messages):
    assert manager.save(100)
    manager.wait_until_finished()
    assert (tmp_path / "c" / "100" / COMMIT).exists()
    assert manager.committed() == [100]
    assert manager.restore() == 100
    said = messages()
    assert said.index("[process=0] Saving checkpoint at step 100") < said.index(
        f"[process=0][thread=async_save] Finished saving checkpoint (finalized tmp dir) to `{DIRECTORY}/100`."
    )
    assert f"[process=0] [async] Finished save (blocking + background) in 1.20 seconds @ {DIRECTORY}/100" in said
    assert f"[process=0] [sync] Finished load in 3.00 seconds @ {DIRECTORY}/100" in said


def test_the_last_complete_one_is_restored(manager, tmp_path):
    for step in (9, 10):
        manager.save(step)
        manager.wait_until_finished()
    half(tmp_path / "c", 11)
    assert manager.restore() == 10


def test_nothing_to_restore(manager, messages):
    assert manager.restore() is None
    assert messages()[-1] == "No existing checkpoints found, not restoring checkpoint."


def test_a_step_is_saved_once(manager):
    assert manager.save(5)
    assert not manager.save(5)


def test_a_checkpoint_that_lost_its_data_ends_the_run(manager, tmp_path):
    (tmp_path / "c" / "5").mkdir()
    (tmp_path / "c" / "5" / COMMIT).touch()
    with pytest.raises(FileNotFoundError, match="Individual parameter subdirectory not found at path: gs://b/o/r/"):
        manager.restore()


def test_a_save_whose_directory_is_deleted_fails_loudly(tmp_path, log, messages):
    class Deletes:
        def monotonic(self):
            return 0.0

        def sleep(self, seconds):
            shutil.rmtree(tmp_path / "c" / "5")

    manager = CheckpointManager(DIRECTORY, tmp_path / "c", Deletes(), log, background=True)
    manager.save(5)
    with pytest.raises(FileNotFoundError):
        manager.wait_until_finished()
    assert manager.committed() == []
    assert any(message.startswith("[process=0] Failed to run 3 Handler Commit operations") for message in messages())


def test_a_save_in_the_foreground(tmp_path, clock, log):
    manager = CheckpointManager(DIRECTORY, tmp_path / "c", clock, log, background=False)
    assert manager.save(1)
    assert manager.committed() == [1]


def test_clean_up_deletes_the_newest_if_it_is_half(manager, tmp_path, log, messages):
    manager.save(9)
    manager.wait_until_finished()
    half(tmp_path / "c", 10)
    clean_up(DIRECTORY, tmp_path / "c", log)
    assert messages()[-2:] == [
        f"Checking latest checkpoint: {DIRECTORY}/10/",
        f"No commit_success file found. Deleting {DIRECTORY}/10/...",
    ]
    assert steps_in(tmp_path / "c") == [9]
    clean_up(DIRECTORY, tmp_path / "c", log)
    assert messages()[-1] == f"Found commit_success file. Keeping {DIRECTORY}/9/."
    assert steps_in(tmp_path / "c") == [9]


def test_clean_up_of_nothing(tmp_path, log, messages):
    clean_up(DIRECTORY, tmp_path / "none", log)
    assert messages()[-1] == "Found no existing checkpoints. Continuing"
