"""The readers of text, of turns and of settings under a fuzzer that looks for inputs which reach new code.

    .venv/bin/python -m pip install atheris
    .venv/bin/python -P tests/assurance/fuzzing/guided_by_coverage.py -max_total_time=600 [FOLDER of inputs]

Options are those of libFuzzer; an input that fails is written to the working folder. No battery needs it: it
finds in pure functions what a mutation without a sense of the code meets too rarely.
"""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports(include=["vera"]):
    from assurance.fuzzing.text_rows import BYTES_READERS, READERS, exhausted
    from vera.protocol.text import parse
    from vera.text.html_tags import tags

FIXED = ("-timeout=20", "-rss_limit_mb=1500", "-max_len=4096", "-len_control=20")


def one(data: bytes) -> None:
    """The first byte chooses the reader; the rest is the text, once, or many times for what is not linear."""
    if len(data) < 3:
        return
    text = data[2:].decode("utf-8", "replace") * (1 if data[1] < 200 else 20)
    choice = data[0] % (len(READERS) + len(BYTES_READERS) + 2)
    if choice < len(READERS):
        exhausted(READERS[choice](text))
    elif choice < len(READERS) + len(BYTES_READERS):
        exhausted(BYTES_READERS[choice - len(READERS)](text.encode()))
    elif choice == len(READERS) + len(BYTES_READERS):
        exhausted(tags(text, ("href", "content")))
    else:
        parse(text)


if __name__ == "__main__":
    atheris.Setup([sys.argv[0], *FIXED, *sys.argv[1:]], one)
    atheris.Fuzz()
