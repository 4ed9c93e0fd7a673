"""Environment variables of the main container: from flags, from a file, from secrets, and how they meet ours."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from xlaunch.core.errors import UsageError
from xlaunch.core.names import is_dns1123_subdomain, is_env_name
from xlaunch.core.words import check_text

_SECRET_KEY = r"[-._A-Za-z0-9]{1,253}"
# Also at the end of a word: PGPASSWORD, accessToken
_CREDENTIAL_WORDS = (
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "APIKEY",
)
_KEY_KINDS = {"API", "ACCESS", "PRIVATE", "SECRET", "AUTH", "SIGNING", "ENCRYPTION"}


@dataclass(frozen=True)
class EnvVar:
    """One variable: a value, or the key of a Kubernetes secret."""

    name: str
    value: str = ""
    secret: str = ""
    key: str = ""

    def entry(self) -> dict[str, Any]:
        """The entry of a container's `env` list."""
        if self.secret:
            return {"name": self.name, "valueFrom": {"secretKeyRef": {"name": self.secret, "key": self.key}}}
        return {"name": self.name, "value": self.value}


def collect(
    flags: Iterable[str], file_text: str | None, secrets: Iterable[str], caller: Mapping[str, str]
) -> tuple[EnvVar, ...]:
    """The variables of `--env`, `--env-file` and `--env-secret`, each name once.

    `--env` beats the file, and so does `--env-secret`; the last of a repeated name wins. `caller` is the environment
    that `NAME` without a value takes it from. Raises UsageError, also where a name is both a value and a secret.
    """
    from_file = {} if file_text is None else parse_file(file_text, caller)
    from_flags = dict(parse_flag(flag, caller) for flag in flags)
    from_secrets = {variable.name: variable for variable in map(parse_secret, secrets)}
    both = sorted(set(from_flags) & set(from_secrets))
    if both:
        raise UsageError(f"{both[0]} is given by --env and by --env-secret", next="Leave one of them away")
    values = {name: EnvVar(name, value) for name, value in (from_file | from_flags).items()}
    return tuple((values | from_secrets).values())


def parse_flag(text: str, caller: Mapping[str, str]) -> tuple[str, str]:
    """`NAME=VALUE`, or `NAME` for the caller's own value."""
    name, equals, value = text.partition("=")
    _check_name(name, "--env")
    value = value if equals else _from_caller(name, caller, "--env")
    check_text(f"the value of --env {name}", value)
    return name, value


def parse_file(text: str, caller: Mapping[str, str]) -> dict[str, str]:
    """An env file by python-dotenv's rules, without interpolation: `$X` and `${X}` stay as they are.

    A name alone takes the caller's value, as in xpk. A line that python-dotenv would skip with a warning is refused.
    """
    import io

    from dotenv.parser import parse_stream

    found: dict[str, str] = {}
    for binding in parse_stream(io.StringIO(text)):
        where = f"line {binding.original.line} of the env file"
        if binding.error:
            raise UsageError(
                f"{where} is not an assignment",
                why="Env files are read by python-dotenv's rules: NAME=VALUE, with quotes where a value needs them",
                next="Correct the line, or give the variable with --env",
            )
        if binding.key is None:
            continue
        _check_name(binding.key, where)
        value = _from_caller(binding.key, caller, where) if binding.value is None else binding.value
        check_text(f"the value of {binding.key} in {where}", value)
        found[binding.key] = value
    return found


def parse_secret(text: str) -> EnvVar:
    """`NAME=SECRET/KEY`."""
    name, equals, reference = text.partition("=")
    secret, slash, key = reference.partition("/")
    _check_name(name, "--env-secret")
    if not (equals and slash and is_dns1123_subdomain(secret) and re.fullmatch(_SECRET_KEY, key)):
        raise UsageError(
            f"--env-secret {name} does not name a secret and its key",
            why="The form is NAME=SECRET/KEY with the name of a Kubernetes secret and one of its keys",
            next=f"kubectl create secret generic my-secret --from-file=token, then --env-secret {name}=my-secret/token",
        )
    return EnvVar(name, secret=secret, key=key)


def merged(ours: Iterable[Mapping[str, Any]], theirs: Iterable[EnvVar]) -> list[dict[str, Any]]:
    """A container's `env` with the user's variables: in our place where we set one, after ours otherwise.

    The order matters: `$(NAME)` in a value works only for a variable that stands before it.
    """
    entries = {entry["name"]: dict(entry) for entry in ours}
    entries.update((variable.name, variable.entry()) for variable in theirs)
    return list(entries.values())


def looks_secret(name: str) -> bool:
    """Whether such a variable usually holds a credential: HF_TOKEN, WANDB_API_KEY, PGPASSWORD; not MAX_TOKENS."""
    words = re.split(r"[-._]+", name.upper())
    pairs = itertools.pairwise(words)
    return any(word.endswith(_CREDENTIAL_WORDS) for word in words) or any(
        kind in _KEY_KINDS and word == "KEY" for kind, word in pairs
    )


def warnings(variables: Iterable[EnvVar]) -> list[str]:
    """A line for each value that everybody who may read the JobSet will read."""
    return [
        f"Warning: {variable.name} looks like a credential and is written into the manifest as plain text; "
        f"--env-secret {variable.name}=SECRET/KEY keeps it in a Kubernetes secret."
        for variable in variables
        if not variable.secret and variable.value and looks_secret(variable.name)
    ]


def _check_name(name: str, where: str) -> None:
    if not is_env_name(name):
        raise UsageError(
            f"{where} does not begin with the name of an environment variable",
            why="Names are made of letters, digits, '_', '-' and '.', and don't begin with a digit",
            next="Write it as NAME=VALUE",
        )


def _from_caller(name: str, caller: Mapping[str, str], where: str) -> str:
    if name not in caller:
        # What stands alone may be a value: a token without its name, the second line of a key
        shown = name if re.fullmatch(r"[A-Z_][A-Z0-9_]*", name) else "NAME"
        raise UsageError(
            f"{where} has no value and {shown} is not set here",
            why="A name without '=' takes its value from the environment of this command",
            next=f"export {shown}=…, or give NAME=VALUE",
        )
    return caller[name]
