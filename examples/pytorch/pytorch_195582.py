"""pytorch/pytorch#195582: behind BatchNorm2d a pad that crops gives other numbers in each run under Inductor, up to 1e34,
and no error. With backend="padlock" the crop is a kernel of Padlock, and the result is eager's.

    python pytorch_195582.py
"""

import torch

import padlock.torch


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 50, (2, 2))
        self.norm = torch.nn.BatchNorm2d(50)
        self.last = torch.nn.Linear(50, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.conv(x))
        x = x.view(x.shape[0], -1)
        return self.last(torch.nn.functional.pad(x, (0, 50 - x.shape[-1])))  # -400


def run(backend: str | None) -> torch.Tensor:
    torch.manual_seed(420)
    model, x = Model().eval(), torch.randn(3, 1, 4, 4)
    torch._dynamo.reset()
    with torch.no_grad():
        return (model if backend is None else torch.compile(model, backend=backend))(x)


if __name__ == "__main__":
    eager = run(None)
    for backend in ("inductor", "padlock"):
        wrong = [(run(backend) - eager).abs().max().item() for _ in range(2)]
        print(f"{backend}: off by {wrong[0]:.3g}, and by {wrong[1]:.3g} in a second run; eager's largest is {eager.abs().max():.3g}")
    for decision in padlock.torch.decisions():
        if decision.taken:
            print(f"taken, as {decision.reason}:\n{decision.text}")
            break
