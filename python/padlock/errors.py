"""Errors as classes. An error by the caller is also a ValueError; a fault of the library never is."""

from __future__ import annotations


class Error(Exception):
    """The base of all errors. The message says what was expected and what was found."""

    status: str = "UNKNOWN"
    message: str = ""
    #: Axis of the tensor that the message names, from 0; None if it names none.
    axis: int | None = None
    #: The constraint or extent that was not met, as the program has it; "" if there is none.
    expression: str = ""
    #: The symbols of that expression with their values.
    values: dict[str, int]
    #: Position in the program's text, from 1; None if the error has none. Under padlock.jit it is a position in `file`, the
    #: Python file.
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.values = {}


class InvalidArgument(Error, ValueError):
    """The arguments are wrong, whatever the sizes."""

    status = "INVALID_ARGUMENT"


class FailedPrecondition(Error, ValueError):
    """The sizes break a requirement of the program, or the call came at the wrong time."""

    status = "FAILED_PRECONDITION"


class NotFound(Error, LookupError):
    """There is nothing with the given name."""

    status = "NOT_FOUND"


class ResourceExhausted(Error, MemoryError):
    """There is not enough memory, or the program exceeds a limit."""

    status = "RESOURCE_EXHAUSTED"


class Unavailable(Error, RuntimeError):
    """A device, a file or a worker is not available."""

    status = "UNAVAILABLE"


class Unimplemented(Error, NotImplementedError):
    """This build or this version does not have that part."""

    status = "UNIMPLEMENTED"


class Cancelled(Error, RuntimeError):
    """The caller asked to stop."""

    status = "CANCELLED"


class Internal(Error, RuntimeError):
    """A fault of this library."""

    status = "INTERNAL"


_CLASSES: dict[int, type[Error]] = {
    1: Cancelled,
    3: InvalidArgument,
    5: NotFound,
    7: Unavailable,  # PERMISSION_DENIED: of a file
    8: ResourceExhausted,
    9: FailedPrecondition,
    10: Unavailable,  # ABORTED: a device is lost
    11: InvalidArgument,  # OUT_OF_RANGE
    12: Unimplemented,
    13: Internal,
    14: Unavailable,
    15: Unavailable,  # DATA_LOSS: of a file
}
_LIBRARY = 2


def make_error(
    status: int,
    blame: int,
    message: str,
    text: str,
    axis: int = -1,
    expression: str = "",
    values: dict[str, int] | None = None,
    line: int = 0,
    column: int = 0,
) -> Error:
    """Makes the error of a status. For this package alone."""
    error = (Internal if blame == _LIBRARY else _CLASSES.get(status, Internal))(text)
    error.message = message
    error.axis = axis if axis >= 0 else None
    error.expression = expression
    error.values = values or {}
    error.line, error.column = line or None, column or None
    return error


def invalid(message: str) -> Error:
    """Makes the error of a wrong argument that is found before the library is called."""
    return make_error(3, 0, message, message)
