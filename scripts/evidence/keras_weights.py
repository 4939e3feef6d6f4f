"""Weights of the notebook's model from Keras to Headlight and back.

    python scripts/evidence/keras_weights.py export MODEL.keras OUT.safetensors
    python scripts/evidence/keras_weights.py import IN.safetensors OUT.keras [--heads N]

`export` reads what `model.save("MODEL.keras")` wrote, in the notebook or here. `import` takes all
sizes from the tensors, except the number of heads, which no shape shows.
"""

import argparse

import safetensors.numpy

from notebook_keras import PositionalEmbedding
from notebook_keras import build_model, from_headlight, keras, to_headlight


def load(path: str) -> keras.Model:
    # Keras saves a class that the notebook defines under its bare name.
    classes = {"PositionalEmbedding": PositionalEmbedding}
    return keras.saving.load_model(path, classes, compile=False)


def build_for(tensors: dict, n_heads: int) -> keras.Model:
    """A Keras model with Headlight's parameters."""
    vocab_size, d_model = tensors["token_embedding"].shape
    seq_len = tensors["position_embedding"].shape[0] - 1
    model = build_model(vocab_size, d_model, seq_len, n_heads)
    from_headlight(tensors, model)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    export = commands.add_parser("export", help="Keras to Headlight")
    export.add_argument("model", metavar="MODEL.keras")
    export.add_argument("out", metavar="OUT.safetensors")
    back = commands.add_parser("import", help="Headlight to Keras")
    back.add_argument("weights", metavar="IN.safetensors")
    back.add_argument("out", metavar="OUT.keras")
    back.add_argument("--heads", type=int, default=1, metavar="N", help="default: 1")
    args = parser.parse_args()
    if args.command == "export":
        tensors = to_headlight(load(args.model))
        safetensors.numpy.save_file(tensors, args.out)
        print(f"{args.out}: {sum(values.size for values in tensors.values())} parameters")
    else:
        model = build_for(safetensors.numpy.load_file(args.weights), args.heads)
        model.save(args.out)
        print(f"{args.out}: {model.count_params()} parameters")


if __name__ == "__main__":
    main()
