"""What Kubernetes 1.37.2 and JobSet 0.12.0 answered, for the tests that have no real control plane.

`RECORD_ANSWERS=1` writes it anew while the real one is asked. Objects are kept as digests.
"""

import hashlib
import json
from pathlib import Path

NAMESPACE = "answers"
PATH = Path(__file__).parents[1] / "data" / "answers-1.37.2.json"


def digest(answer):
    """An answer with the hash of its object in the place of the object."""
    if "object" not in answer:
        return answer
    text = json.dumps(answer["object"], sort_keys=True)
    return {**answer, "object": hashlib.sha256(text.encode()).hexdigest()[:16]}


def load():
    """All recorded answers, by the names of the requests."""
    return json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}


def record(answers):
    """Adds answers to the recorded ones."""
    known = load() | {name: digest(answer) for name, answer in answers.items()}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(known[name], sort_keys=True)}" for name in sorted(known))
    PATH.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
