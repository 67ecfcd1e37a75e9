"""What reading the zip of a stranger may raise, beside OSError."""

import struct
import zipfile
import zlib

ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    KeyError,
    NotImplementedError,  # a compression method that Python does not know
    OverflowError,
    RuntimeError,  # an encrypted member
    ValueError,
)
