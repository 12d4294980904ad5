"""Tables of the pages: every function that is a block returns the lines that go between its marks."""

BLOCKS = {}


def block(name, arguments=(None,)):
    """Registers a function as the writer of a block, once for each argument."""

    def register(function):
        for argument in arguments:
            BLOCKS[name if argument is None else f"{name} {argument}"] = (
                function,
                () if argument is None else (argument,),
            )
        return function

    return register


def number(value):
    """Two digits, as one writes them."""
    value = float(f"{float(value):.1e}")
    return (
        f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e")
        if not 0.01 <= value < 1e4
        else f"{value:.0f}"
        if value >= 10
        else f"{value:#.2g}"
    )


def cell(value):
    """A number, or an empty cell."""
    return "" if value is None else number(value)


def interval(pair):
    """A 95 % interval."""
    return f"{number(pair[0])} … {number(pair[1])}" if pair else ""


def table(head, rows):
    """A Markdown table."""
    return [
        f"| {' | '.join(map(str, head))} |",
        "|---" * len(head) + "|",
        *(f"| {' | '.join(map(str, row))} |" for row in rows),
    ]
