"""The language of docs/language.md, written in Python: `@padlock.jit` runs a function once on symbols, and what comes out
is the text of a program, nothing else. `kernel.text` is that text.

    @padlock.jit
    def pad_relu(x: padlock.f32["B", "S"], lo: padlock.dim):
        y = padlock.lang.pad(x, low=[0, lo], high=[0, -(x.shape[1] + lo) % 8], value=-1.5)
        return padlock.lang.relu(y)
"""

from . import elementwise, moves, sizes, tracing, types, values
from .elementwise import *
from .moves import *
from .sizes import *
from .tracing import *
from .types import *
from .values import *

__all__: list[str] = []
__all__ += elementwise.__all__
__all__ += moves.__all__
__all__ += sizes.__all__
__all__ += tracing.__all__
__all__ += types.__all__
__all__ += values.__all__
