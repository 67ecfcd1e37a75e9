"""The standard streams of a command, when their reader goes away or the disk is full."""

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Output(io.FileIO):
    """A standard stream that leads nowhere after it could not be written to.

    A reader that has gone (`| head -1`) is no error: the command goes on to its own exit code.
    """

    reader_gone = False

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            self.reader_gone = True
            self._lead_nowhere()
            return super().write(data)
        except OSError:
            self._lead_nowhere()  # what is left in the buffer is not tried again at the end
            raise

    def _lead_nowhere(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def replace_outputs() -> None:
    """Let this process write its standard streams through `_Output`."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.fileno() == number:
            output = io.TextIOWrapper(
                io.BufferedWriter(_Output(number, "wb", closefd=False)),
                encoding=stream.encoding,
                errors=stream.errors,
                line_buffering=stream.line_buffering,
                write_through=stream.write_through,
            )
            setattr(sys, name, output)


def insist_on_reader() -> None:
    """Raises BrokenPipeError where the reader of the standard output has gone."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Output) and raw.reader_gone:
        raise BrokenPipeError
