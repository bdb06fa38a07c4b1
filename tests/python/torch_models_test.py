"""Models of timm with random weights under backend="padlock", dynamic=True: as eager mode has them, at two sizes of images and two
batches each, with clusters in them. What is left is run as it was traced: whether Inductor compiles a model is not what is asked.
One of the quick models a run, or those that PADLOCK_MODELS names, or all of them."""

import os
import random
import re
import unittest
from typing import NamedTuple
from unittest import mock

from python_testing import main, needs


class Model(NamedTuple):
    #: Of images.
    sizes: tuple
    #: An operator that is in a cluster that was taken.
    wanted: str
    #: How many were taken, in all graphs: each that there is.
    clusters: int
    #: How often torch traces it for these sizes; batches are never a reason.
    graphs: int = 1
    #: Images' sizes are numbers for torch.
    static: bool = False


#: Where a model is traced twice, that is torch's or timm's doing, under every back end (TORCH_LOGS=recompiles):
#: - swin's patches put the image's size into the message of an assertion, where Dynamo makes a number of it (eval Eq(s53, 64) at
#:   timm/layers/patch_embed.py:129, with backend="eager", too); batches stay symbols.
#: - davit's windows of windows have sizes that torch simplifies for more than a quarter of an hour, before any back end is
#:   asked (FakeTensor's view -> infer_size -> SymInt // -> sympy's simplify), so they are given as numbers.
#: - Models with TensorFlow's pads (tf_*, nasnet) are traced once, in five minutes and more: a layer's size quotes the size before
#:   it several times, and torch's bounds of sizes walk all of that. Square images have one such size instead of two.
MODELS = {
    "tf_efficientnetv2_b0": Model(((64, 64), (96, 96)), "constant_pad_nd", 5),
    "tf_mobilenetv3_small_100": Model(((64, 64), (96, 96)), "constant_pad_nd", 5),
    "resnetblur50": Model(((64, 96), (128, 80)), "padlock.pad", 4),
    "davit_tiny": Model(((64, 96), (128, 80)), "constant_pad_nd", 75, graphs=2, static=True),
    "swin_tiny_patch4_window7_224": Model(((64, 96), (128, 80)), "constant_pad_nd", 176, graphs=2),
    "nasnetalarge": Model(((96, 96), (128, 128)), "constant_pad_nd", 33),
}

QUICK = ("resnetblur50", "davit_tiny", "swin_tiny_patch4_window7_224")


def as_traced(graph_module, examples, **how):
    """Instead of Inductor: the graph that is left, operator by operator."""

    def call(arguments):
        given = list(arguments)
        arguments.clear()
        return graph_module.forward(*given)

    call._boxed_call = True
    return call


@needs("torch", "numpy", "timm", "torchvision")
class Models(unittest.TestCase):
    def test_models(self):
        seed = int(os.environ.get("PADLOCK_SEED", random.randrange(1 << 30)))
        chosen = os.environ.get("PADLOCK_MODELS", QUICK[seed % len(QUICK)])
        for name in MODELS if chosen == "all" else chosen.split(","):
            with self.subTest(name, seed=seed):
                self.check(name, MODELS[name])

    def check(self, name, about):
        import timm
        import torch

        import padlock.torch
        from padlock.torch import _backend

        torch._dynamo.reset()
        padlock.torch.forget()
        torch.manual_seed(0)
        options = {"strict_img_size": False} if name.startswith("swin") else {}
        model = timm.create_model(name, pretrained=False, num_classes=10, **options).eval()
        compile_fx, _ = _backend.inductor()
        rest = mock.Mock(side_effect=as_traced)
        with mock.patch.object(_backend, "inductor", lambda: (compile_fx, rest)):
            ours = torch.compile(model, backend="padlock", dynamic=True, options={"padlock.force": True})
            for size in about.sizes:
                for batch in (2, 3):
                    x = torch.randn(batch, 3, *size)
                    for axis in (2, 3) if about.static else ():
                        torch._dynamo.mark_static(x, axis)
                    with torch.no_grad():
                        self.assert_close(ours(x), model(x), name, size, batch)
        self.assertEqual(rest.call_count, about.graphs)
        self.check_clusters(name, about, padlock.torch.decisions())

    def assert_close(self, made, want, *note):
        import torch

        bound = 1e-5 * want.abs().max().item()
        self.assertTrue(torch.allclose(made, want, rtol=1e-5, atol=bound), (note, (made - want).abs().max(), bound))

    def check_clusters(self, name, about, decisions):
        """Each is taken, and is one kernel for all batches at least."""
        self.assertEqual([(one.reason, one.operators) for one in decisions if not one.taken], [])
        self.assertTrue(any(about.wanted in operator for one in decisions for operator in one.operators), name)
        self.assertEqual(len(decisions), about.clusters)
        parameters = [one.text.split("\n")[0] for one in decisions]
        sizes = {symbol for one in parameters for symbol in re.findall(r"\b[sn]\d+\b", one)}
        self.assertTrue(sizes, name)
        kernels = len({one.text for one in decisions})
        print(f"{name}: {len(decisions)} clusters taken, {kernels} programs, {about.graphs} graphs for {len(about.sizes)} sizes")


if __name__ == "__main__":
    main()
