/** Share of the values that must lie inside the scale: as in the pictures, the few beyond it saturate. */
const COVERED = 0.995;
const SHADES = 512;

/** `rgb(…)` of three numbers, with some opacity. */
export function ink([r, g, b], opacity = 1) {
  return `rgb(${r} ${g} ${b} / ${opacity})`;
}

/** Maps values of a field to the colours of the pictures. */
export class Scale {
  constructor(palette, low, high) {
    this.low = low;
    this.high = high;
    const stops = low < 0 ? palette.diverging : palette.sequential;
    this.shades = new Uint32Array(SHADES + 1);
    for (let k = 0; k < SHADES; k++) this.shades[k] = packed(blend(stops, k / (SHADES - 1)));
    // Values that are not finite.
    this.shades[SHADES] = packed(palette.missing);
  }

  /** Around zero, or from zero up if no value is negative; the target's values are never saturated. */
  static covering(palette, fields, target) {
    const all = [...fields, target].flatMap((field) => Array.from(field)).filter(Number.isFinite);
    const sizes = all.map(Math.abs).sort((a, b) => a - b);
    const usual = sizes[Math.min(Math.floor(sizes.length * COVERED), sizes.length - 1)] ?? 0;
    const high = target.reduce((most, value) => Math.max(most, Math.abs(value)), usual) || 1;
    const least = all.reduce((a, b) => Math.min(a, b), 0);
    return new Scale(palette, least < -0.02 * high ? -high : 0, high);
  }

  /** The colour of a value as the bytes of a pixel. */
  shade(value) {
    const share = (value - this.low) / (this.high - this.low);
    if (!(Math.abs(value) < Infinity)) return this.shades[SHADES];
    return this.shades[Math.max(0, Math.min(SHADES - 1, Math.round(share * (SHADES - 1))))];
  }
}

/** The colour at a share of the way through evenly spaced stops. */
function blend(stops, share) {
  const place = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const before = Math.min(Math.floor(place), stops.length - 2);
  return stops[before].map((a, c) => Math.round(a + (stops[before + 1][c] - a) * (place - before)));
}

function packed([r, g, b]) {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
