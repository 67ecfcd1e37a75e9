"""What a signature covers: the pre-authentication encoding of DSSE."""


def pae(payload_type: str, payload: bytes) -> bytes:
    """The bytes that are signed for a payload of a type (DSSE 1.0, `PAE`).

    The lengths are in them, so no other type and payload give the same bytes.
    """
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
