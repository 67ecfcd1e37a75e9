"""A cross-encoder run by onnxruntime: a piece of the lines with the claim, a share for each label.

Lines that are too long for one reading are cut into pieces that overlap by a quarter, so that two sentences
that support a claim together are read in one of them. The pieces of one claim are read BATCH at a time, the
longest first, whoever asks: a model with 8-bit weights scales its numbers by what it reads together, so the
same pieces have to be together when a replay reads them again.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from vera.entailment.files import JudgeFiles
from vera.entailment.values import CONTRADICTED, STEP_BP, SUPPORTED, EntailmentError, Shares
from vera.events import EntailmentModel
from vera.sanitize import one_line

T = TypeVar("T")

BATCH = 16
"""Pieces that are read together."""

MAX_THREADS = 4
"""Threads of one reading: a batch of short pieces gains little from more."""

MAX_PIECES = 48
"""Pieces that are read for one claim. At 150 ms each that is seven seconds."""

MAX_CHARACTERS = 200_000
"""Of the lines of one place: MAX_PIECES hold fewer."""

MAX_SECONDS = 120.0
"""Of one batch; a graph may hold a loop without an end."""

MIN_ROOM = 16
"""Tokens that a claim must leave for lines."""

_KNOWN_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_INTEGERS: dict[str, type[np.int64] | type[np.int32]] = {
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
}
_SHOWN = 200
"""Characters of what the library says of a failure."""


class OnnxReader:
    """A `PairReader` over one file. `threads`: how many read one batch, 0 for one a processor."""

    def __init__(self, files: JudgeFiles, threads: int = 0) -> None:
        """Raises EntailmentError for a file that is no cross-encoder."""
        self.name = files.name
        self._about = files.about
        try:
            self._tokenizer = Tokenizer.from_buffer(files.tokenizer)
            self._pairs = Tokenizer.from_buffer(files.tokenizer)
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            self._pairs.no_padding()
            self._pairs.enable_truncation(files.about.tokens, strategy="only_first")
        except Exception as error:  # the library raises no narrower one
            raise EntailmentError(
                f"The tokenizer.json of {self.name} cannot be read: {_told(error)}"
            ) from error
        self._room = files.about.tokens - self._pairs.num_special_tokens_to_add(True)
        try:
            self._session = onnxruntime.InferenceSession(
                files.model, _options(threads), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library raises no narrower one
            raise EntailmentError(f"{self.name} is no ONNX model that can be run: {_told(error)}") from error
        self._inputs = self._named_inputs()

    @property
    def about(self) -> EntailmentModel:
        return self._about

    def read(self, texts: Sequence[str], claim: str) -> list[Shares]:
        """What each of the texts says of the claim. Raises EntailmentError: the model fails, its numbers are
        not finite, or there is more than it reads of one claim."""
        room = self._room - len(self._tokens(_valid(claim)).ids)
        if room < MIN_ROOM:
            raise EntailmentError("The claim is longer than the entailment judge reads beside lines.")
        pieces = [(place, piece) for place, text in enumerate(texts) for piece in self._pieces(text, room)]
        if len(pieces) > MAX_PIECES:
            raise EntailmentError(
                f"The cited lines make {len(pieces)} pieces, beyond the budget of {MAX_PIECES} that an "
                "entailment judge reads for one claim."
            )
        shares = self._shares([piece for _, piece in pieces], _valid(claim))
        found = [Shares(0, 0)] * len(texts)
        for (place, _), (supported, contradicted) in zip(pieces, shares, strict=True):
            best = found[place]
            found[place] = Shares(max(best.supported, supported), max(best.contradicted, contradicted))
        return found

    def _pieces(self, text: str, room: int) -> Iterator[str]:
        """The text in pieces of at most `room` tokens."""
        if len(text) > MAX_CHARACTERS:
            raise EntailmentError(
                f"A cited place has more than {MAX_CHARACTERS} characters, beyond the budget of an "
                "entailment judge."
            )
        text = _valid(text)
        offsets = self._tokens(text).offsets
        step = max(1, room - room // 4)
        for start in range(0, max(1, len(offsets)), step):
            part = offsets[start : start + room]
            if part:
                yield text[part[0][0] : part[-1][1]]
            if start + room >= len(offsets):
                return

    def _tokens(self, text: str) -> Any:
        return _encoding(lambda: self._tokenizer.encode(text, add_special_tokens=False))

    def _shares(self, pieces: Sequence[str], claim: str) -> list[tuple[int, int]]:
        """The shares of support and contradiction of each piece."""
        encoded = _encoding(lambda: self._pairs.encode_batch([(piece, claim) for piece in pieces]))
        order = sorted(range(len(pieces)), key=lambda index: -len(encoded[index].ids))
        found: dict[int, tuple[int, int]] = {}
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            found |= zip(batch, self._batch([encoded[index] for index in batch]), strict=True)
        return [found[index] for index in range(len(pieces))]

    def _batch(self, encoded: Sequence[Any]) -> list[tuple[int, int]]:
        width = max(len(each.ids) for each in encoded)
        columns = {
            "input_ids": _padded([each.ids for each in encoded], width),
            "attention_mask": _padded([each.attention_mask for each in encoded], width),
            "token_type_ids": _padded([each.type_ids for each in encoded], width),
        }
        logits = self._run({name: columns[name].astype(kind) for name, kind in self._inputs.items()})
        labels = self._about.labels
        if logits.shape != (len(encoded), len(labels)):
            raise EntailmentError(
                f"{self.name} gives an output of the shape {logits.shape} for {len(encoded)} pairs and "
                f"{len(labels)} labels."
            )
        if not np.isfinite(logits).all():
            raise EntailmentError(f"{self.name} gives numbers that are not finite.")
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        points = np.rint(powers / powers.sum(axis=1, keepdims=True) * (10_000 // STEP_BP)) * STEP_BP
        return [(_of(row, labels, SUPPORTED), _of(row, labels, CONTRADICTED)) for row in points.tolist()]

    def _run(self, given: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
        """The logits; a run that takes longer than MAX_SECONDS is ended."""
        options = onnxruntime.RunOptions()
        watch = threading.Timer(MAX_SECONDS, lambda: setattr(options, "terminate", True))
        watch.daemon = True
        watch.start()
        try:
            first = self._session.run([self._output()], given, options)[0]
            return np.asarray(first, np.float64)
        except Exception as error:  # the library raises no narrower one
            raise EntailmentError(f"{self.name} cannot be run: {_told(error)}") from error
        finally:
            watch.cancel()

    def _output(self) -> str:
        """The output that holds the logits: the one of this name, else the first."""
        names = [str(each.name) for each in self._session.get_outputs()]
        return "logits" if "logits" in names else names[0]

    def _named_inputs(self) -> dict[str, type[np.int64] | type[np.int32]]:
        found = {str(each.name): str(each.type) for each in self._session.get_inputs()}
        fits = "input_ids" in found and all(
            name in _KNOWN_INPUTS and kind in _INTEGERS for name, kind in found.items()
        )
        if not fits:
            raise EntailmentError(
                f"The inputs of {self.name} ({one_line(', '.join(found), _SHOWN)}) are not those of a "
                f"cross-encoder: {', '.join(_KNOWN_INPUTS)}, whole numbers."
            )
        return {name: _INTEGERS[kind] for name, kind in found.items()}


def _options(threads: int) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    options.intra_op_num_threads = threads or min(MAX_THREADS, here)
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # Weights in another file ("external data") are read from the working folder, and no hash covers them.
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.devnull)
    return options


def _encoding(what: Callable[[], T]) -> T:
    """What the tokenizer makes of a text. Raises EntailmentError, also for a panic of its library, which is
    not an Exception."""
    try:
        return what()
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise EntailmentError(f"The tokenizer of the entailment judge failed: {_told(error)}") from None


def _padded(rows: Sequence[Sequence[int]], width: int) -> NDArray[np.int64]:
    """The rows as one array, the ends filled with 0, which the attention mask hides."""
    table = np.zeros((len(rows), width), np.int64)
    for index, row in enumerate(rows):
        table[index, : len(row)] = row
    return table


def _of(row: Sequence[float], labels: Sequence[str], role: str) -> int:
    return int(row[labels.index(role)]) if role in labels else 0


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _told(error: BaseException) -> str:
    """What the library says, as the end of a sentence."""
    said = one_line(str(error), _SHOWN).rstrip(".")
    return f"{said or type(error).__name__}."
