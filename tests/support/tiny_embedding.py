"""A sentence-transformer of a few random numbers, as the folder of a real one is."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, pre_tokenizers

SIZE, WIDE, WORDS = 8, 16, ("[UNK]", "alpha", "beta", "gamma")

CONFIG = {
    "model_type": "bert",
    "hidden_size": SIZE,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "max_position_embeddings": 16,
}


def tensors(layers: int = 1) -> dict[str, np.ndarray]:
    dice = np.random.default_rng(7)

    def linear(name: str, out: int, into: int) -> dict[str, np.ndarray]:
        weight = dice.normal(size=(out, into)).astype(np.float32)
        return {f"{name}.weight": weight, f"{name}.bias": np.zeros(out, np.float32)}

    def norm(name: str) -> dict[str, np.ndarray]:
        return {f"{name}.weight": np.ones(SIZE, np.float32), f"{name}.bias": np.zeros(SIZE, np.float32)}

    made = norm("embeddings.LayerNorm")
    for name, rows in (("word", len(WORDS)), ("position", 16), ("token_type", 2)):
        made[f"embeddings.{name}_embeddings.weight"] = dice.normal(size=(rows, SIZE)).astype(np.float32)
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            made |= linear(f"{layer}.attention.self.{part}", SIZE, SIZE)
        made |= linear(f"{layer}.attention.output.dense", SIZE, SIZE)
        made |= linear(f"{layer}.intermediate.dense", WIDE, SIZE) | linear(
            f"{layer}.output.dense", SIZE, WIDE
        )
        made |= norm(f"{layer}.attention.output.LayerNorm") | norm(f"{layer}.output.LayerNorm")
    return made


def tiny_embedding(folder: Path) -> Path:
    """A folder with the model, made; it knows WORDS."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(tensors(), folder / "model.safetensors")
    return folder
