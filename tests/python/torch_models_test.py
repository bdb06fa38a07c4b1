"""Models of timm with random weights under backend="padlock": as eager mode has them, and with clusters in them. What is left is
run as it was traced: whether Inductor compiles a model is not what is asked. One of the quick models a run, or all with
PADLOCK_MODELS=all."""

import os
import random
import unittest
from unittest import mock

from python_testing import main, needs

#: Sizes of images, an operator that is in a cluster that was taken, and whether one graph is for all sizes.
MODELS = {
    "tf_efficientnetv2_b0": (((64, 64), (96, 80)), "constant_pad_nd", False),
    "tf_mobilenetv3_small_100": (((64, 64), (96, 80)), "constant_pad_nd", False),
    "resnetblur50": (((64, 64), (96, 80)), "padlock.pad", True),
    "davit_tiny": (((64, 64), (80, 96)), "constant_pad_nd", False),
    "swin_tiny_patch4_window7_224": (((64, 96), (96, 64)), "constant_pad_nd", False),
    "nasnetalarge": (((96, 96), (128, 112)), "constant_pad_nd", False),
}

QUICK = ("resnetblur50", "tf_efficientnetv2_b0", "tf_mobilenetv3_small_100")


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
        from padlock.torch import _backend

        seed = int(os.environ.get("PADLOCK_SEED", random.randrange(1 << 30)))
        every = os.environ.get("PADLOCK_MODELS") == "all"
        compile_fx, _ = _backend.inductor()
        with mock.patch.object(_backend, "inductor", lambda: (compile_fx, as_traced)):
            for name in sorted(MODELS) if every else [QUICK[seed % len(QUICK)]]:
                with self.subTest(name, seed=seed):
                    self.check(name)

    def check(self, name):
        import timm
        import torch

        import padlock.torch

        torch._dynamo.reset()
        padlock.torch.forget()
        torch.manual_seed(0)
        sizes, wanted, dynamic = MODELS[name]
        options = {"strict_img_size": False} if name.startswith("swin") else {}
        model = timm.create_model(name, pretrained=False, num_classes=10, **options).eval()
        ours = torch.compile(model, backend="padlock", dynamic=None if dynamic else False, options={"padlock.force": True})
        counts = []
        for height, width in sizes:
            x = torch.randn(2, 3, height, width)
            for axis in (2, 3) if dynamic else ():
                torch._dynamo.mark_dynamic(x, axis)
            with torch.no_grad():
                want, made = model(x), ours(x)
            self.assertTrue(torch.allclose(made, want, rtol=1e-3, atol=1e-5 + 1e-4 * want.abs().max().item()))
            counts.append(len(padlock.torch.decisions()))
        self.assertEqual(counts[0] == counts[-1], dynamic, counts)
        taken = [one for one in padlock.torch.decisions() if one.taken]
        self.assertTrue(any(wanted in operator for one in taken for operator in one.operators), name)
        print(f"{name}: {len(taken)} clusters taken {'once for' if dynamic else 'at'} {len(sizes)} sizes")


if __name__ == "__main__":
    main()
