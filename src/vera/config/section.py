"""What a section of settings is, and the kinds of values that are in more than one."""

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, SecretStr

from vera.config.bounded import expand_home


class Section(BaseModel):
    """A group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True)


def setting(
    description: str,
    *,
    env: tuple[str, ...] = (),
    flag: str = "",
    allowed: str = "",
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    pattern: str | None = None,
) -> Any:
    """A field of a section.

    `env` are its names in the specifications, before which `VERA_<SECTION>__<KEY>` always counts; `flag` its
    option on the command line; `allowed` what may be there, where type and bounds do not say it.
    """
    names: dict[str, JsonValue] = {"env": list(env), "flag": flag, "allowed": allowed}
    return Field(description=description, json_schema_extra=names, ge=ge, gt=gt, le=le, pattern=pattern)


BUILT_IN = "builtin"
"""Instead of a server's address: the built-in extractive model, whatever servers there are."""


AUTO = "auto"
"""Instead of a server's address: one that is found on this machine and is yours or a system account's."""


def _model_address(value: str) -> str:
    return value if value in (BUILT_IN, AUTO) else _server_address(value)


def _server_address(value: str) -> str:
    if not value:
        return value
    if value in (BUILT_IN, AUTO):
        raise ValueError("no server")
    if " " in value or not value.isprintable():
        raise ValueError("white space in an address")
    _insist_on_http(urlsplit(value if "://" in value else f"http://{value}"))
    return value


def _insist_on_http(parts: SplitResult) -> None:
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ValueError("not an http address, or one with a password in it")
    if parts.query or parts.fragment:
        raise ValueError("a query in an address, where keys hide")
    parts.port  # noqa: B018 (reading it raises ValueError for what is no port)


def _header_text(value: SecretStr) -> SecretStr:
    text = value.get_secret_value().strip()
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("no text for an HTTP header")
    return SecretStr(text)


def _home(value: Path) -> Path:
    if "\0" in str(value):
        raise ValueError("a zero byte in a path")
    return expand_home(value)


ModelAddress = Annotated[str, AfterValidator(_model_address)]
"""A server's address, BUILT_IN, AUTO, or '' for none."""
ServerAddress = Annotated[str, AfterValidator(_server_address)]
"""A server's address, or '' for none."""
Secret = Annotated[SecretStr, AfterValidator(_header_text)]
FilePath = Annotated[Path, AfterValidator(_home)]

SECRET_FORM = "a key in one word of ASCII"
ADDRESS_FORM = "an address such as http://127.0.0.1:1234/v1, without password or query"
