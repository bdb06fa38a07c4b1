"""Trains a small network with ReflectionPad2d deterministically. On a GPU PyTorch itself raised here for long, and still does for
ReflectionPad1d and ReflectionPad3d, as its gradient of such a pad adds up in the order in which threads happen to come by. On a
CPU the same lines give the same bits as on a GPU for the pads' gradients.

    python deterministic_training.py
"""

import torch

import padlock.torch


def train(device: str, steps: int = 5) -> torch.Tensor:
    """A few steps, and all weights that come out."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.ReflectionPad2d(2),
        torch.nn.Conv2d(3, 8, 5),
        torch.nn.ReLU(),
        torch.nn.ReflectionPad2d(1),
        torch.nn.Conv2d(8, 3, 3),
    ).to(device)
    images = torch.rand(4, 3, 16, 16).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with padlock.torch.override_pad():  # the one line
        for _ in range(steps):
            optimizer.zero_grad()
            loss = (model(images) - images).square().mean()
            loss.backward()
            optimizer.step()
    print(f"{device}: loss {loss.item():.6f} after {steps} steps")
    return torch.cat([weights.detach().flatten() for weights in model.parameters()])


if __name__ == "__main__":
    torch.use_deterministic_algorithms(True)
    for device in ["cpu"] + ["cuda"] * torch.cuda.is_available():
        first, second = train(device), train(device)
        print(f"{device}: two runs are {'the same, bit for bit' if torch.equal(first, second) else 'DIFFERENT'}")
