#!/bin/sh
# Makes the development environment: setup.sh PYTHON VENV. Locked with hashes; uv where there is one, else venv and pip.
set -eu
python=$1
venv=$2
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "xlaunch needs Python 3.11 or newer; $python is $("$python" --version 2>&1). Try: make PYTHON=python3.11" >&2
    exit 1
}
if command -v uv >/dev/null 2>&1; then
    [ -d "$venv" ] || uv venv --quiet --python "$python" "$venv"
    uv pip install --quiet --python "$venv/bin/python" --require-hashes --compile-bytecode -r requirements.lock
    uv pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation -e .
else
    [ -d "$venv" ] || "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
fi
# Bytecode once, here: some machines forbid Python to write it later, and every start would compile again
"$venv/bin/python" -m compileall -q xlaunch
