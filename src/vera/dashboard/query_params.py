"""What a page knows of the request that it answers."""

import msgspec


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """`nonce` is for the scripts of this one answer, `form_token` for the forms of this login ('' without
    one), `static` the prefix of every file of `static/`, `notice` a sentence to show on top ('' for none)."""

    nonce: str
    static: str
    form_token: str = ""
    signed_in: bool = True
    notice: str = ""
