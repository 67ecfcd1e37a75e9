"""Metrics: a fold of session logs into Prometheus families, all named `dra_…`."""

from vera.metrics.families import FAMILIES, Family
from vera.metrics.fold import Metrics

__all__ = ["FAMILIES", "Family", "Metrics"]
