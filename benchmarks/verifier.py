"""How well the checks without a model work: the same as `vera bench verifier`.

    python benchmarks/verifier.py [--wice FILE] [--quotesum FILE] [--fever EVIDENCE CLAIM LABEL] [--json]

Without data the mutation test on the fixtures that come with VERA. `docs/verification.md` has the figures.
"""

from vera.cli.bench import verifier

if __name__ == "__main__":
    verifier()
