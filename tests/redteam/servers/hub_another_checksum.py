"""The bytes have another SHA-256 than the hub announces."""

import vera.agent.hub
from redteam.place import Place
from support.fake_hub import FakeHub
from support.gguf_header import LLAMA, header
from vera.agent import pulled_models
from vera.agent.errors import SetupError
from vera.agent.pull import pull

CLAIM = "The file is the one that the hub announced."
TRICK = "The bytes have another SHA-256 than the hub announces."
MUST_NOT_BE = ("KEPT",)
TWIN = "What comes is what was announced."
MUST_BE = "KEPT"

REPO, FILE = "someone/Tiny-GGUF", "tiny-Q4_K_M.gguf"
TINY = header(LLAMA) + bytes(200 << 10)


def attack(place: Place) -> str:
    return _pulled(place, TINY, sha256="0" * 64)


def twin(place: Place) -> str:
    return _pulled(place, TINY)


def _pulled(place: Place, data: bytes, sha256: str = "", size: int = 0, file: str = FILE) -> str:
    place.patch.setenv("XDG_DATA_HOME", str(place.folder / "data"))
    place.patch.delenv("HF_TOKEN", raising=False)
    place.patch.setattr(vera.agent.hub.time, "sleep", lambda seconds: None)
    with FakeHub() as hub:
        place.patch.setenv("HF_ENDPOINT", hub.endpoint)
        hub.put(REPO, file, data, sha256=sha256, size=size)
        try:
            pull(f"{REPO}:{file}", lambda line: None, lambda line: None)
        except SetupError as error:
            place.told = {"said": str(error)}
            return "REFUSED"
    return "KEPT" if pulled_models.pulled() else "REFUSED"
