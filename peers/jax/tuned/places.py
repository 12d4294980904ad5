"""Initial positions, for any number of agents: NumPy, float64, [m, d]."""
import numpy as np


def between_margins(m, lengths, margin):
    """On a line, evenly from one margin to the other; margins are shares of the length."""
    return lengths[0] * np.linspace(margin, 1 - margin, m)[:, None] if m > 1 else np.full((1, 1), margin * lengths[0])


def inside(m, low, high):
    """The first m points, row by row, of the smallest square lattice from corner to corner that holds them."""
    side = int(np.ceil(np.sqrt(m)))
    x, y = (np.linspace(a, b, side) for a, b in zip(low, high))
    return np.stack(np.meshgrid(x, y, indexing="ij"), -1).reshape(-1, 2)[:m]


def cell_centres(m, lengths):
    """The centres of equal cells; in the plane in a nearly square arrangement."""
    centres = lambda count, length: (np.arange(count) + 0.5) * length / count
    if len(lengths) == 1:
        return centres(m, lengths[0])[:, None]
    columns = max(1, round(np.sqrt(m)))
    counts = np.diff(np.arange(columns + 1) * m // columns)
    column = lambda x, count: np.stack([np.full(count, x), centres(count, lengths[1])], -1)
    return np.concatenate([column(x, count) for x, count in zip(centres(columns, lengths[0]), counts)])


def shortest(a, b):
    """Length of the shortest vector of the lattice that a and b span (Gauss)."""
    while True:
        a, b = (b, a) if a @ a > b @ b else (a, b)
        less = b - np.floor(a @ b / (a @ a) + 0.5) * a
        if less @ less > b @ b * (1 - 1e-9):
            return np.sqrt(a @ a)
        b = less


def most_even(m, lengths):
    """The lattice of a torus with m points whose shortest dual vector is longest; on a ring, centres of cells."""
    if len(lengths) == 1:
        return cell_centres(m, lengths)
    width, height = lengths
    best, most = (1, 0), 0.0
    for row in (row for row in range(1, m + 1) if m % row == 0):
        for shift in range(m // row):
            length = shortest(np.array([row / width, shift / height]), np.array([0.0, m // row / height]))
            if length > most * (1 + 1e-9):
                best, most = (row, shift), length
    (row, shift), rows = best, m // best[0]
    i, j = np.meshgrid(np.arange(rows), np.arange(row), indexing="ij")
    x = (j + 0.5) / row - (shift * i % rows) / (row * rows)
    return np.stack([x % 1.0 * width, (i + 0.5) * height / rows], -1).reshape(-1, 2)


def settle(xi, discs, walls, lengths, clearance, margin):
    """Positions moved out of discs [[x, y, r]] and, where there is room, out of their margins. `walls[k][axis][side]`: disc k
    reaches to that wall."""
    xi = np.array(xi)
    for place in xi:
        for wanted in [max(margin, clearance)] * 8 + [clearance]:
            for (x, y, radius), wall in zip(discs, walls):
                beside = [wall[c][int(place[c] > (x, y)[c])] for c in (0, 1)]
                d = np.where(beside, 0.0, place - (x, y))
                distance = np.hypot(*d)
                if distance - radius < wanted:
                    away = [1.0, 0.0] if not beside[0] else [0.0, 1.0] if not beside[1] else [1.0 if wall[0][0] else -1.0, 0.0]
                    outward = d / distance if distance > 0 else np.array(away)
                    place += 1.0001 * (wanted - (distance - radius)) * outward
                    np.clip(place, 0, lengths, out=place)
    return xi
