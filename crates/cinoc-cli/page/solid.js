/** Marks of cells from the lengths of their runs, the first of which are fluid. */
export function marks(runs) {
  return Uint8Array.from(runs.flatMap((length, k) => Array(length).fill(k % 2)));
}

/** Solid cells at the border of the fluid, each with its fluid neighbours: `[cell, neighbours]`. */
export function border(solid, [columns, rows]) {
  const found = [];
  for (let i = 0; i < solid.length; i++) {
    if (!solid[i]) continue;
    const [x, y] = [Math.floor(i / rows), i % rows];
    const near = [];
    for (let a = Math.max(0, x - 1); a <= Math.min(columns - 1, x + 1); a++) {
      for (let b = Math.max(0, y - 1); b <= Math.min(rows - 1, y + 1); b++) if (!solid[a * rows + b]) near.push(a * rows + b);
    }
    if (near.length > 0) found.push([i, near]);
  }
  return found;
}

/** A field whose solid cells at the border have the mean of their fluid neighbours, so that colours beside them are those of the fluid. */
export function continued(field, borders) {
  if (borders.length === 0) return field;
  const copy = field.slice();
  for (const [cell, near] of borders) copy[cell] = near.reduce((sum, i) => sum + field[i], 0) / near.length;
  return copy;
}
