"""An entailment judge, opened."""

from importlib.util import find_spec
from pathlib import Path

from vera.entailment.files import JudgeFiles, read_files
from vera.entailment.values import EntailmentError, PairReader
from vera.extras import install_command

_NEEDED = ("numpy", "onnxruntime", "tokenizers")


def open_reader(path: Path, threads: int = 0) -> PairReader:
    """The judge of a folder or an `.onnx` file; `threads` as in `OnnxReader`. Raises EntailmentError with
    what to type."""
    try:
        files = read_files(path.expanduser())
    except FileNotFoundError:
        raise EntailmentError(f"There is no entailment model at {path}.") from None
    return reader_of(files, threads)


def reader_of(files: JudgeFiles, threads: int = 0) -> PairReader:
    """The judge of these files. Raises EntailmentError."""
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise EntailmentError(
            f"An entailment judge needs {', '.join(missing)}: {install_command('semantic')}"
        )
    from vera.entailment.onnx_reader import OnnxReader

    return OnnxReader(files, threads)
