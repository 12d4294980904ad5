const COUNT = 4;

/** Contour lines of a field on a plane by marching squares, in units of the grid: a path with a few levels. */
export function contours(values, [columns, rows]) {
  const path = new Path2D();
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (!(high - low > 1e-6 * Math.max(Math.abs(high), Math.abs(low)))) return path;
  for (let k = 0; k < COUNT; k++) level(path, values, columns, rows, low + ((high - low) * (k + 0.5)) / COUNT);
  return path;
}

function level(path, values, columns, rows, at) {
  for (let x = 0; x + 1 < columns; x++) {
    for (let y = 0; y + 1 < rows; y++) {
      const i = x * rows + y;
      const [a, b, c, d] = [values[i] - at, values[i + rows] - at, values[i + rows + 1] - at, values[i + 1] - at];
      const all = (a > 0) + (b > 0) + (c > 0) + (d > 0);
      if (all === 0 || all === 4) continue;
      const crossed = [];
      if (a > 0 !== b > 0) crossed.push([x + a / (a - b), y]);
      if (b > 0 !== c > 0) crossed.push([x + 1, y + b / (b - c)]);
      if (c > 0 !== d > 0) crossed.push([x + d / (d - c), y + 1]);
      if (d > 0 !== a > 0) crossed.push([x, y + a / (a - d)]);
      // At a saddle the middle says which corners belong together.
      if (crossed.length === 4 && a + b + c + d > 0 !== a > 0) crossed.push(crossed.shift());
      for (let k = 0; k + 1 < crossed.length; k += 2) {
        path.moveTo(...crossed[k]);
        path.lineTo(...crossed[k + 1]);
      }
    }
  }
}
