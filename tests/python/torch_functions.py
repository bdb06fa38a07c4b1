"""Random functions of pads, slices, views, operators in place and several results, as Python's text. A seed and a number make one."""

import random
import re

#: Calls that make a value of one that has rank 1 or more; `x` is replaced by its name.
VIEWS = (
    "x[1:]",
    "x[:-1]",
    "x[0]",
    "x[..., 1:]",
    "x[..., ::2]",
    "x[..., -1]",
    "x[None]",
    "x.select(-1, 1)",
    "x.view(-1)",
    "x.view(*x.shape)",
    "x.detach()",
    "x.split(2)[1]",
    "x.chunk(2, -1)[0]",
    "x.unbind(0)[1]",
    "x.narrow(0, 1, x.shape[0] - 1)",
    "x.unsqueeze(-1)",
    "x.squeeze(-1)",
    "x.transpose(0, -1)",
    "x.mT",
    "x.movedim(0, -1)",
    "x.flatten()",
    "x.expand(2, *x.shape)",
    "x.as_strided((2, 2), (1, 2), 1)",
    "x.diagonal()",
    "x.unfold(-1, 2, 1)",
    "x.view_as(x)",
)
COPIES = (
    "x.clone()",
    "x.contiguous()",
    "x.reshape(-1)",
    "x.t().contiguous()",
    "x.relu()",
    "x.abs()",
    "x.neg()",
    "x * 2",
    "x + 1",
    "1 - x",
    "x.clamp(-2, 3)",
    "x * x.shape[0]",
    "torch.where(x > 0, x, -x)",
    "torch.cat([x, x], 0)",
    "torch.cat([x, x + 1], -1)",
    "torch.stack([x, x])",
    "torch.zeros_like(x)",
    "torch.full((2, x.shape[-1]), 3.0)",
    "x[torch.arange(x.shape[0]) - 1]",
    "x[..., torch.arange(2)]",
    "x.index_select(-1, torch.arange(2))",
    "torch.nn.functional.embedding(torch.arange(3), x)",
    "x.flip(0)",
    "x.sum(0)",
    "x.cumsum(-1)",
)
TYPES = ("x.double()", "x.half()", "x.bool()", "x.to(torch.bfloat16)", "x.float()", "x.int()", "x.to(x.dtype)", "x > 0")
WRITES = (
    "x.add_(1)",
    "x.mul_(2)",
    "x.relu_()",
    "x.neg_()",
    "x.zero_()",
    "x.fill_(3)",
    "x[0] = 5",
    "x[..., 1:] = 4",
    "x[1:].mul_(2)",
    "x[..., 0].fill_(6)",
    "x.view(-1)[1:].add_(3)",
    "x.copy_(y)",
    "x[:1].copy_(y[:1])",
    "x.add_(y)",
    "x.transpose_(0, -1)",
    "x.unsqueeze_(0)",
)
PAIRS = ("x + y", "x * y", "torch.maximum(x, y)", "torch.cat([x, y], -1)", "torch.cat([x, y])", "x.where(x > 0, y)", "x[y.long() % x.shape[0]]")
SHAPES = ((6,), (4, 6), (3, 5), (2, 4, 5), (1, 3, 4))
MAKES = (
    "torch.randint(-4, 5, SHAPE).float()",
    "torch.randint(-4, 5, SHAPE).float()",
    "torch.randint(-4, 5, SHAPE).double()",
    "torch.randint(-4, 5, SHAPE)",
    "torch.randint(-4, 5, SHAPE).to(torch.bfloat16)",
    "torch.randint(-4, 5, SHAPE).float().transpose(0, -1)",
    "torch.randint(-4, 5, (9, *SHAPE)).float()[4]",
)


class Source:
    """One function: its text, which inputs it takes, and how to make them larger."""

    def __init__(self, seed, number):
        self.name = f"PADLOCK_SEED={seed} PADLOCK_FIRST={number}"
        self._draw = random.Random(f"{seed} {number}")
        self.dynamic = self._draw.random() < 0.5
        self.records = self._draw.random() < 0.5
        self.force = self._draw.random() < 0.9
        self._makes = []
        for _ in range(self._draw.choice((1, 1, 2, 3))):
            self._makes.append((self._draw.choice(SHAPES), self._draw.choice(MAKES)))
        #: The second input is sometimes a part of the first: they share memory.
        self._shares = len(self._makes) > 1 and self._draw.random() < 0.2
        self._lines = self._results = ()
        self._grow()

    def __str__(self):
        about = f"# {self.name}, dynamic={self.dynamic}, records={self.records}, force={self.force}, shares={self._shares}\n"
        return about + self.text()

    def text(self):
        names = ", ".join(f"a{i}" for i in range(len(self._makes)))
        body = "".join(f"    {line}\n" for line in self._lines)
        return f"def function({names}):\n{body}    return {', '.join(self._results)},\n"

    def function(self):
        import torch

        names = {"torch": torch, "pad": torch.nn.functional.pad}
        exec(compile(self.text(), "<function>", "exec"), names)
        return names["function"]

    def inputs(self, more=0):
        """The same each time: leaves where gradients are recorded, of which the function is given what may be written to."""
        import torch

        torch.manual_seed(len(self._makes))
        made = []
        for shape, how in self._makes:
            made.append(eval(how.replace("SHAPE", str(tuple(n + more for n in shape))), {"torch": torch}))
        if self._shares:
            made[1] = made[0][1:]
        if self.records:
            leaves = [x.requires_grad_() if x.is_floating_point() and i == 0 else x for i, x in enumerate(made)]
            return leaves, [x * 1 if x.requires_grad else x for x in leaves]
        return made, made

    def _pad(self, x):
        axes = min(self._draw.choice((1, 1, 2)), x.dim())
        mode = self._draw.choice(("constant",) * 4 + ("replicate", "reflect", "circular"))
        if mode != "constant":
            axes = min(max(x.dim() - 1, 1), axes)
            return f"pad(x, {tuple(self._draw.randint(0, 2) for _ in range(2 * axes))}, {mode!r})"
        value = self._draw.choice(("", "", ", value=2"))
        return f"pad(x, {tuple(self._draw.choice((1, 1, 2, 0, -1)) for _ in range(2 * axes))}{value})"

    def _line(self, values, count):
        """A line, of which some values are operands."""
        x, y = self._draw.choice(list(values)), self._draw.choice(list(values))
        kind = self._draw.random()
        if kind < 0.3:
            call = self._pad(values[x])
        elif kind < 0.6:
            call = self._draw.choice(VIEWS)
        elif kind < 0.75:
            call = self._draw.choice(WRITES)
        elif kind < 0.93:
            call = self._draw.choice(COPIES if self._draw.random() < 0.7 else PAIRS)
        else:
            call = self._draw.choice(TYPES)
        text = re.sub(r"(?<![\w.])([xy])(?!\w)", lambda match: x if match[1] == "x" else y, call)
        return text if call in WRITES else f"b{count} = {text}"

    def _grow(self):
        """Adds lines that eager mode takes, at the sizes of a first call and at larger ones; the others are left out."""
        import torch

        worlds = []
        for more in (0, 2):
            _, given = self.inputs(more)
            worlds.append({f"a{i}": x for i, x in enumerate(given)})
        lines, makers = [], {"torch": torch, "pad": torch.nn.functional.pad}
        for count in range(self._draw.randint(2, 9)):
            line = self._line(worlds[0], count)
            try:
                for world in worlds:
                    exec(line, makers, world)
            except (RuntimeError, IndexError, ValueError, NotImplementedError, TypeError):
                worlds = self._replayed(lines)
                continue
            lines.append(line)
        self._lines = tuple(lines)
        made = [name for name in worlds[0] if name.startswith("b")] or ["a0"]
        last = [name for name in made if any(line.startswith(f"{name} = pad(") for line in lines)] or made
        chosen = [last[-1], *self._draw.choices(made, k=self._draw.choice((0, 1, 1, 2, 3)))]
        if self._draw.random() < 0.15:
            chosen.append("a0")
        self._results = tuple(chosen)

    def _replayed(self, lines):
        """What a line that failed half-way may have written to, anew."""
        import torch

        worlds = []
        for more in (0, 2):
            world = {f"a{i}": x for i, x in enumerate(self.inputs(more)[1])}
            for line in lines:
                exec(line, {"torch": torch, "pad": torch.nn.functional.pad}, world)
            worlds.append(world)
        return worlds

