"""Prints expressions as text in gdb: `source scripts/gdb/padlock_gdb.py`, then `print e` of an Expr or an ExprNode.

It reads memory alone and calls nothing of the program, so it works on a core file, too. A node knows a symbol by its number; the
name is looked up in an ExprContext that some frame of the stack has, as a variable or as a member of one. Where none has it, a
symbol is printed as `symbol3`.
"""

import re

import gdb

MOST_CHARACTERS = 4096  # a DAG's text may be exponential in its size
MOST_FRAMES = 64
CONTEXT = "padlock::ir::ExprContext"


def integer(value):
    """An integer of any width; gdb itself takes 64 bits."""
    memory = gdb.selected_inferior().read_memory(int(value.address), value.type.sizeof)
    return int.from_bytes(bytes(memory), "little", signed=True)


def elements(vector):
    """The elements of a std::vector."""
    begin, end = vector["_M_impl"]["_M_start"], vector["_M_impl"]["_M_finish"]
    return [begin[i] for i in range(int(end - begin))]


def element_of_deque(deque, index):
    start = deque["_M_impl"]["_M_start"]
    size = start["_M_cur"].type.target().sizeof
    per_block = max(1, 512 // size)
    block, place = divmod(int(start["_M_cur"] - start["_M_first"]) + index, per_block)
    return (start["_M_node"] + block).dereference()[place]


def text_of_string(string):
    return string["_M_dataplus"]["_M_p"].string(length=int(string["_M_string_length"]))


def pointee_of_unique(pointer, target):
    """What a std::unique_ptr without a deleter of its own points to: it is that pointer."""
    return pointer.address.cast(target.pointer().pointer()).dereference()


def contexts():
    """The contexts that the frames of the stack have, the innermost first."""
    seen = set()
    frame = gdb.selected_frame()
    for _ in range(MOST_FRAMES):
        if frame is None:
            return
        for value in variables_of(frame):
            for context in contexts_in(value, 2):
                if int(context.address) not in seen:
                    seen.add(int(context.address))
                    yield context
        frame = frame.older()


def variables_of(frame):
    try:
        block = frame.block()
    except RuntimeError:  # code without debugging information
        return
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            if symbol.is_variable or symbol.is_argument:
                try:
                    yield symbol.value(frame)
                except (gdb.error, ValueError):  # optimised away
                    continue
        block = block.superblock


def contexts_in(value, depth):
    """Contexts that a value is, points to, or has as members."""
    try:
        kind = value.type.strip_typedefs()
        if kind.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF):
            if kind.target().strip_typedefs().code == gdb.TYPE_CODE_STRUCT and int(value.address or 0) != 0:
                target = value.referenced_value()
                if int(target.address) != 0:
                    yield from contexts_in(target, depth)
            return
        if kind.code != gdb.TYPE_CODE_STRUCT:
            return
        name = kind.unqualified().name or ""
        if name == CONTEXT:
            yield value
        elif re.match(rf"std::unique_ptr<{CONTEXT}[,>]", name):
            pointer = pointee_of_unique(value, gdb.lookup_type(CONTEXT))
            if int(pointer) != 0:
                yield pointer.dereference()
        elif depth > 0 and name.startswith("padlock::"):
            for field in kind.fields():
                if not hasattr(field, "enumval") and hasattr(field, "bitpos") and field.name:
                    yield from contexts_in(value[field], depth - 1)
    except gdb.error:  # an incomplete type, or memory that is not there
        return


class Names:
    """Finds the names of symbols, each context asked once a printing."""

    def __init__(self):
        self.stores = None

    def of(self, node):
        number = int(node["symbol"])
        if self.stores is None:
            self.stores = self.find_stores()
        for store in self.stores:
            try:
                nodes = store["symbol_nodes"]["_M_impl"]
                known = int(nodes["_M_finish"] - nodes["_M_start"])
                if number < known and int(nodes["_M_start"][number]) == int(node.address):
                    return text_of_string(element_of_deque(store["symbols"], number)["name"])
            except gdb.error:  # a context that is not made yet
                continue
        return f"symbol{number}"

    @staticmethod
    def find_stores():
        try:
            store = gdb.lookup_type(f"{CONTEXT}::Store")
            return [pointee_of_unique(context["store_"], store).dereference() for context in contexts()]
        except gdb.error:  # no frame, or ir/expr/expr.cpp has no debugging information
            return []


class Writer:
    """As the Printer of ir/expr/expr_print.cpp."""

    def __init__(self):
        self.names = Names()
        self.text = ""

    def is_full(self):
        return len(self.text) > MOST_CHARACTERS

    def write(self, node):
        if self.is_full():
            return
        kind = kind_of(node)
        if kind == "constant":
            self.text += str(integer(node["value"]))
        elif kind == "symbol":
            self.text += self.names.of(node)
        elif kind == "sum":
            self.write_sum(node)
        elif kind in ("min", "max"):
            self.text += f"{kind}("
            self.write_list(node, ", ", self.write)
            self.text += ")"
        else:
            self.write_list(node, "*" if kind == "product" else f" {kind} ", self.write_factor)

    def write_list(self, node, separator, write):
        for i, operand in enumerate(operands_of(node)):
            if self.is_full():
                return
            self.text += separator if i else ""
            write(operand)

    def write_factor(self, node):
        kind = kind_of(node)
        bare = kind in ("symbol", "min", "max") or (kind == "constant" and integer(node["value"]) >= 0)
        self.text += "" if bare else "("
        self.write(node)
        self.text += "" if bare else ")"

    def write_sum(self, node):
        coefficients = [integer(value) for value in elements(node["coefficients"])]
        for i, (term, coefficient) in enumerate(zip(operands_of(node), coefficients)):
            if self.is_full():
                return
            self.write_term(term, coefficient, i == 0)
        if (constant := integer(node["value"])) != 0:
            self.write_sign(constant, False)
            self.text += str(abs(constant))

    def write_sign(self, number, first):
        self.text += ("-" if number < 0 else "") if first else (" - " if number < 0 else " + ")

    def write_term(self, term, coefficient, first):
        self.write_sign(coefficient, first)
        if abs(coefficient) != 1:
            self.text += f"{abs(coefficient)}*"
            bare = is_of_symbols(term)
        else:
            bare = is_of_symbols(term) or (not (first and coefficient < 0) and kind_of(term) != "sum")
            bare = bare and not (kind_of(term) == "constant" and integer(term["value"]) < 0)
        (self.write if bare else self.write_factor)(term)


def kind_of(node):
    return str(node["kind"]).rpartition("::")[2]


def operands_of(node):
    return [operand["node_"].dereference() for operand in elements(node["operands"])]


def is_of_symbols(node):
    kind = kind_of(node)
    return kind == "symbol" or (kind == "product" and all(kind_of(factor) == "symbol" for factor in operands_of(node)))


class ExprPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        node = self.value
        if node.type.strip_typedefs().unqualified().name == "padlock::ir::Expr":
            if int(node["node_"]) == 0:
                return "no expression"
            node = node["node_"].dereference()
        writer = Writer()
        writer.write(node)
        return writer.text[:MOST_CHARACTERS] + ("..." if writer.is_full() else "")


def find_printer(value):
    name = value.type.strip_typedefs().unqualified().name
    return ExprPrinter(value) if name in ("padlock::ir::Expr", "padlock::ir::ExprNode") else None


gdb.pretty_printers.append(find_printer)
