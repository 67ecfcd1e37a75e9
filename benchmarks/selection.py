"""How well a selector chooses among candidates, beside its peers' rules: the same as `vera bench selection`.

    python benchmarks/selection.py [SESSION...] [--trajectories PATH] [--labels FILE] [--steps N] [--json]

Without sessions or trajectories the simulation. `docs/performance.md` has its figures.
"""

from vera.cli.bench import selection

if __name__ == "__main__":
    selection()
