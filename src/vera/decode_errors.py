"""What decoding JSON or MessagePack of somebody else may raise."""

import msgspec

DECODE_ERRORS = (
    msgspec.MsgspecError,
    ValueError,  # text that is no UTF-8, a number beyond what can be held
    RecursionError,  # lists within lists, a thousand deep
)
