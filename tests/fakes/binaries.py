"""Directories that look like finished builds of upstreams."""


def filled(directory, *upstreams):
    """What builds of these upstreams leave: commands that do nothing, and files."""
    for upstream in upstreams:
        for name in upstream.commands:
            path = directory / "bin" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#!/bin/sh\n")
            path.chmod(0o755)
        for name in upstream.files:
            (directory / "files" / name).mkdir(parents=True)
            (directory / "files" / name / "a.yaml").touch()
    return directory
