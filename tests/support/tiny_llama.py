"""A real llama.cpp server for tests: random weights that are written here, ready in about a second.

    with TinyLlama(tmp_path_factory.mktemp("llama")) as llama:   # once a session
        client = await connect(llama.base_url)

The model is a monkey at a keyboard: 258 tokens, each byte a token, 467 kB on disk. Constrained by a JSON
schema it types valid turns, about 10 ms for 30 tokens. Its chat template has tool calls. Tests that use it
carry `@pytest.mark.needs("llama")`; they need the packages xllamacpp, gguf and numpy.
"""

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType

TEMPLATE = """\
{%- for tool in tools or [] %}{{- tool | tojson }}{{- "\\n" }}{%- endfor %}
{%- for message in messages %}
{{- "<|im_start|>" + message.role + "\\n" }}
{%- if message.content %}{{- message.content }}{%- endif %}
{%- for call in message.tool_calls or [] %}
{{- '~{"name": "' }}{{- call.function.name }}{{- '", "arguments": ' }}
{{- call.function.arguments | tojson }}{{- "}~" }}
{%- endfor %}
{{- "<|im_end|>\\n" }}
{%- endfor %}
{%- if add_generation_prompt %}{{- "<|im_start|>assistant\\n" }}{%- endif %}
"""

END_OF_TEXT = 257
NEVER_STOPS = {"ignore_eos": True}
"""Sampling with which the monkey types until it is cut off; else it stops at random."""

CALLS_TOOLS = {"tool_choice": "required", "logit_bias": {str(ord("~")): 80, str(END_OF_TEXT): 120}}
"""Sampling with which the monkey calls one tool: it must, it likes the sign that opens a call, and it likes
still better to stop, which the grammar allows after the call."""

SERVE = """
import json, sys
import xllamacpp
settings = json.loads(sys.stdin.readline())
params = xllamacpp.CommonParams()
params.model.path, params.port = settings["path"], 0
params.n_ctx, params.n_parallel = settings["context"] * settings["parallel"], settings["parallel"]
params.use_jinja, params.ui, params.cache_ram_mib = True, False, 0
params.cpuparams.n_threads = 1
server = xllamacpp.Server(params)
print("ready " + server.listening_address, flush=True)
sys.stdin.read()
"""


def write_random_model(
    path: Path, *, context: int = 32_768, width: int = 64, layers: int = 2, seed: int = 0
) -> None:
    """A GGUF file of the llama architecture with random weights; the same seed gives the same file."""
    import gguf
    import numpy as np

    random_numbers = np.random.default_rng(seed)
    tokens = [*_byte_alphabet(), "<|bos|>", "<|eos|>"]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(2 * width)
    writer.add_head_count(4)
    writer.add_head_count_kv(4)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // 4)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * 256 + [3, 3])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(256)
    writer.add_eos_token_id(END_OF_TEXT)
    writer.add_chat_template(TEMPLATE)

    def weights(name: str, *shape: int) -> None:
        writer.add_tensor(f"{name}.weight", (random_numbers.standard_normal(shape) * 0.4).astype(np.float32))

    def ones(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(width, np.float32))

    weights("token_embd", len(tokens), width)
    weights("output", len(tokens), width)
    ones("output_norm")
    for layer in range(layers):
        ones(f"blk.{layer}.attn_norm")
        ones(f"blk.{layer}.ffn_norm")
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights(f"blk.{layer}.{part}", width, width)
        weights(f"blk.{layer}.ffn_gate", 2 * width, width)
        weights(f"blk.{layer}.ffn_up", 2 * width, width)
        weights(f"blk.{layer}.ffn_down", width, 2 * width)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class TinyLlama:
    """The server in a child process; `context` tokens for each of `parallel` slots."""

    def __init__(self, folder: Path, *, context: int = 32_768, parallel: int = 4) -> None:
        self.model_file = folder / "monkey.gguf"
        self._settings = {"path": str(self.model_file), "context": context, "parallel": parallel}
        self._child: subprocess.Popen[bytes] | None = None
        self.root = ""

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1"

    def __enter__(self) -> "TinyLlama":
        write_random_model(self.model_file)
        self._child = subprocess.Popen(
            [sys.executable, "-c", SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(self.model_file.parent / "llama.log").open("wb"),
        )
        assert self._child.stdin
        assert self._child.stdout
        self._child.stdin.write(json.dumps(self._settings).encode() + b"\n")
        self._child.stdin.flush()
        line = self._child.stdout.readline().decode()
        if not line.startswith("ready "):
            self.__exit__(None, None, None)
            log = (self.model_file.parent / "llama.log").read_text(errors="replace")
            raise RuntimeError(f"llama.cpp did not start:\n{log[-2000:]}")
        self.root = line.split()[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        # It could end by itself at the end of stdin, but waits for running generations then.
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe:
                pipe.close()


def _byte_alphabet() -> list[str]:
    """GPT-2's printable stand-ins for the 256 bytes (Radford et al. 2019, section 2.2)."""
    kept = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = (byte for byte in range(256) if byte not in kept)
    stand_in = {byte: chr(256 + position) for position, byte in enumerate(others)}
    return [stand_in.get(byte, chr(byte)) for byte in range(256)]
