"""Prometheus' text format 0.0.4 of folded metrics, written by prometheus_client."""

from collections.abc import Iterator, Mapping
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from vera.metrics.families import FAMILIES, Family
from vera.metrics.values import Distribution, Distributions, Values


def exposition(values: Values, distributions: Distributions) -> bytes:
    """Every family with HELP and TYPE, in the order of `FAMILIES`, and its samples."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Folded(values, distributions))
    return generate_latest(registry)


class _Folded(Collector):
    def __init__(self, values: Values, distributions: Distributions) -> None:
        self._values = values
        self._distributions = distributions

    def collect(self) -> Iterator[Metric]:
        for name, family in FAMILIES.items():
            if family.kind == "histogram":
                yield _histogram(name, family, self._distributions[name])
            else:
                yield _plain(name, family, self._values[name])


def _plain(name: str, family: Family, series: Mapping[tuple[str, ...], float]) -> Metric:
    kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    metric = kind(name, family.help, labels=list(family.labels))
    for key, value in series.items():
        metric.add_metric(list(key), value)
    return metric


def _histogram(name: str, family: Family, series: Mapping[tuple[str, ...], Distribution]) -> Metric:
    metric = HistogramMetricFamily(name, family.help, labels=list(family.labels))
    bounds = [*map(floatToGoString, family.buckets), "+Inf"]
    for key, found in series.items():
        cumulated = zip(bounds, accumulate(found.counts), strict=True)
        metric.add_metric(list(key), list(cumulated), found.sum)
    return metric
