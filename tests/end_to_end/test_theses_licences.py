"""The 90 theses about the licences of the examples, each asked of `vera.verify` without a model."""

from collections import Counter
from pathlib import Path

from support.benchmarks import loaded


def test_of_ninety_theses_none_is_supported_wrongly_and_most_true_ones_are(tmp_path: Path) -> None:
    with loaded("theses") as benchmark:
        theses = benchmark.theses_of(benchmark.THESES)
        verdicts = list(benchmark.verdicts(theses, benchmark.LICENCES, tmp_path))
    supported = [verdict for verdict in verdicts if verdict.result == "SUPPORTED"]
    assert Counter(thesis.group for thesis in theses) == {"true": 30, "altered": 30, "unspoken": 30}
    assert [verdict.thesis.text for verdict in supported if verdict.thesis.group != "true"] == []
    assert [verdict.thesis.text for verdict in supported if not verdict.right] == []
    assert sum(verdict.thesis.kind == "near-verbatim" for verdict in supported) == 10
    assert len(supported) >= 18
    refuted = [verdict.thesis for verdict in verdicts if verdict.result == "REFUTED"]
    assert [thesis.text for thesis in refuted if thesis.group != "altered"] == []
