"""All variations of the objects in the corpus."""

from __future__ import annotations

from collections.abc import Mapping

from differential.corpus import Variation
from differential.corpus_jobs import JOBS, OTHERS, PODS
from differential.corpus_jobsets import VARIATIONS

EVERY: dict[str, Mapping[str, Variation]] = {"jobsets": VARIATIONS, "jobs": JOBS, "pods": PODS, **OTHERS}
