"""A model file on a hub (Hugging Face, or a mirror of it in HF_ENDPOINT): found, and fetched to a part.

`huggingface_hub` asks what is known of a file: it has the hub's routes and errors, and the person's token.
The bytes are fetched here, since its own download begins from the start after an interruption.
"""

import os
import re
import time
from collections.abc import Callable
from importlib.util import find_spec
from io import BufferedRandom
from typing import TYPE_CHECKING

import msgspec

from vera.agent.errors import SetupError
from vera.extras import install_command
from vera.model.owner import is_loopback
from vera.model.url import host_of
from vera.version import __version__

if TYPE_CHECKING:
    import httpx

HUGGING_FACE = "https://huggingface.co"
ASK_SECONDS = 15.0
SILENCE_SECONDS = 60.0
MAX_REDIRECTS = 5
ATTEMPTS = 5
"""In a row with less than PROGRESS_BYTES new ones."""

PROGRESS_BYTES = 1 << 20
FILES_SHOWN = 12
MAX_NAME_LENGTH = 200

_SHA256 = re.compile(r"[0-9a-f]{64}")

Received = Callable[[int], None]


class HubFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a repository at one commit: where its bytes are, how many, their SHA-256, and the licence
    that the hub states for the repository ('' where it does not)."""

    repo: str
    file: str
    url: str
    commit: str
    size: int
    sha256: str
    licence: str


class Hub:
    """The hub at HF_ENDPOINT, Hugging Face without it. Raises SetupError (5) where its library is missing.

    The person's token (HF_TOKEN, or `hf auth login`) goes there, but never over a network unencrypted.
    """

    def __init__(self) -> None:
        if find_spec("huggingface_hub") is None:
            raise SetupError(
                "Fetching a model needs the extra 'local', which is not installed. "
                f"Type: {install_command('local')}",
                5,
            )
        self.endpoint = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or HUGGING_FACE
        host = _host_of_hub(self.endpoint)
        if not host:
            raise SetupError("HF_ENDPOINT is no address of a hub. An example: HF_ENDPOINT=" + HUGGING_FACE, 2)
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # read when the library is imported
        from huggingface_hub import constants, get_token

        may_have_it = self.endpoint.startswith("https:") or is_loopback(host)
        wanted = may_have_it and not constants.HF_HUB_DISABLE_IMPLICIT_TOKEN
        token = (get_token() if wanted else "") or ""
        if not re.fullmatch(r"[!-~]*", token):
            raise SetupError(
                "The token of the hub has a letter in it that cannot be sent. Copy it again: HF_TOKEN=…", 2
            )
        self._token: str | bool = token or False

    def look(self, repo: str, file: str) -> HubFile:
        """What the hub says of a file. Raises SetupError: no such repository or file (2), it may not be read,
        the hub cannot be reached, or the address is not a hub (5)."""
        from huggingface_hub import get_hf_file_metadata, hf_hub_url
        from huggingface_hub.errors import HfHubHTTPError

        try:
            url = hf_hub_url(repo, file, endpoint=self.endpoint)
            seen = get_hf_file_metadata(
                url, token=self._token, timeout=ASK_SECONDS, endpoint=self.endpoint, library_name="vera"
            )
            size, sha256 = seen.size or 0, (seen.etag or "").lower()
            if not seen.commit_hash:
                raise SetupError(f"What answers at {self.endpoint} is no hub of models. See HF_ENDPOINT.", 5)
            url = hf_hub_url(repo, file, revision=seen.commit_hash, endpoint=self.endpoint)
        except HfHubHTTPError as error:
            raise self._refused(error, repo, file) from None
        except _client_errors() as error:
            raise self._unreachable(error) from None
        except ValueError:
            raise SetupError(f"{repo!r} is no name of a repository, such as OWNER/NAME.", 2) from None
        if size <= 0 or not _SHA256.fullmatch(sha256):
            raise SetupError(
                f"The hub gives no size and SHA-256 checksum for {file} of {repo}, so it is not fetched.", 5
            )
        return HubFile(
            repo=repo,
            file=file,
            url=url,
            commit=seen.commit_hash,
            size=size,
            sha256=sha256,
            licence=self._card(repo)[0],
        )

    def fetch(self, wanted: HubFile, part: BufferedRandom, received: Received) -> None:
        """Bring the rest of a file behind what `part` holds of it; `received` is told how many are there.

        A connection that breaks is made again, after where it broke. Raises SetupError (5), with what was
        received kept in `part`, and OSError where it cannot be written.
        """
        import httpx

        headers = {"Accept-Encoding": "identity", "User-Agent": f"vera/{__version__}"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        timeout = httpx.Timeout(SILENCE_SECONDS, connect=ASK_SECONDS)
        failures = 0
        with httpx.Client(
            headers=headers, timeout=timeout, follow_redirects=True, max_redirects=MAX_REDIRECTS
        ) as http:
            while (before := part.seek(0, os.SEEK_END)) < wanted.size:
                try:
                    self._continue(http, wanted, part, received)
                    problem: Exception = ConnectionError("it ended too early")
                except httpx.HTTPError as error:
                    problem = error
                part.flush()
                if part.tell() >= wanted.size:
                    return
                failures = 0 if part.tell() >= before + PROGRESS_BYTES else failures + 1
                if failures >= ATTEMPTS:
                    raise self._unreachable(problem)
                time.sleep(min(failures, 4))

    def _continue(
        self, http: "httpx.Client", wanted: HubFile, part: BufferedRandom, received: Received
    ) -> None:
        """One request. What it gives is not trusted: no more than the announced bytes are written."""
        have = part.tell()
        with http.stream("GET", wanted.url, headers={"Range": f"bytes={have}-"} if have else {}) as answer:
            if answer.status_code >= 500 or answer.status_code in (408, 429):
                answer.raise_for_status()
            if answer.status_code == 206:
                if not answer.headers.get("content-range", "").startswith(f"bytes {have}-"):
                    raise SetupError(f"{answer.url.host} sent another part of the file than was asked.", 5)
            elif answer.status_code == 200:
                part.seek(0)
                part.truncate()
            else:
                raise self._status(answer.status_code, wanted.repo, wanted.file)
            for chunk in answer.iter_raw():
                if part.tell() + len(chunk) > wanted.size:
                    part.truncate(0)
                    raise SetupError(
                        f"{answer.url.host} sent more than the {wanted.size} bytes of {wanted.file}; they "
                        "were deleted.",
                        1,
                    )
                part.write(chunk)
                received(part.tell())

    def files(self, repo: str) -> list[str]:
        """The GGUF files of a repository, none where the hub does not list them."""
        return self._card(repo)[1]

    def _card(self, repo: str) -> tuple[str, list[str]]:
        """The licence that a repository states, and its GGUF files: what can be had of it."""
        from huggingface_hub import HfApi

        try:
            info = HfApi(endpoint=self.endpoint, token=self._token).model_info(repo, timeout=ASK_SECONDS)
            tags = [str(tag) for tag in info.tags or []]
            files = [str(each.rfilename)[:MAX_NAME_LENGTH] for each in info.siblings or []]
        except _client_errors():
            return "", []
        except (ValueError, TypeError, KeyError, AttributeError):  # what answered describes no model
            return "", []
        said = [tag.removeprefix("license:") for tag in tags if tag.startswith("license:")]
        return (said[0][:60] if said else ""), [name for name in files if name.endswith(".gguf")]

    def _refused(self, error: Exception, repo: str, file: str) -> SetupError:
        from huggingface_hub.errors import EntryNotFoundError, GatedRepoError, RepositoryNotFoundError

        response = getattr(error, "response", None)
        status = int(getattr(response, "status_code", 0))
        if isinstance(error, GatedRepoError):
            return self._status(403, repo, file)
        if isinstance(error, EntryNotFoundError):
            files = self.files(repo)
            more = ", …" if len(files) > FILES_SHOWN else ""
            has = f" It has: {', '.join(files[:FILES_SHOWN])}{more}" if files else ""
            return SetupError(f"{repo} has no file {file}.{has}", 2)
        if isinstance(error, RepositoryNotFoundError):
            return SetupError(
                f"There is no model {repo} at {self.endpoint}, or it is private: then log in with "
                "hf auth login, or set HF_TOKEN.",
                2,
            )
        return self._status(status, repo, file)

    def _status(self, status: int, repo: str, file: str) -> SetupError:
        if status in (401, 403):
            return SetupError(
                f"{repo} may not be read without leave (HTTP {status}). Accept its terms at "
                f"{self.endpoint}/{repo}, then log in with hf auth login, or set HF_TOKEN.",
                5,
            )
        if status == 404:
            return SetupError(f"{repo} has no file {file}.", 2)
        return SetupError(f"The hub {self.endpoint} answered HTTP {status} for {file} of {repo}.", 5)

    def _unreachable(self, error: Exception) -> SetupError:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        return SetupError(
            f"The hub {self.endpoint} cannot be reached ({reason}). What was received is kept; type the "
            "command again. For a mirror: HF_ENDPOINT=ADDRESS",
            5,
        )


def _host_of_hub(endpoint: str) -> str:
    """The host of a plain web address, '' for anything else."""
    try:
        return host_of(endpoint) if re.fullmatch(r"https?://[^\s@?#]+", endpoint) else ""
    except ValueError:
        return ""


def _client_errors() -> tuple[type[Exception], ...]:
    """What the library raises when a hub does not answer: errors of the system, and of its HTTP client, which
    is httpx in its version 1 and httpx2 in version 2."""
    from huggingface_hub.errors import HfHubHTTPError

    base = HfHubHTTPError.__bases__[0]
    assert issubclass(base, Exception)
    return base, OSError
