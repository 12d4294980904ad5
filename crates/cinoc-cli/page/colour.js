/** Share of the values that must lie inside the scale: as in the figures, the few beyond it saturate. */
const COVERED = 0.995;
const SHADES = 512;

/** Colours of the light scheme besides those of the figures. */
const LIGHT = { paper: [255, 255, 255], up: [214, 50, 40], down: [24, 98, 186], rest: [255, 255, 255], window: [204, 121, 0] };

/** Colours of the dark scheme; fields are dark where they are zero. */
const DARK = {
  paper: [18, 21, 26], black: [232, 234, 237], axis: [110, 116, 124], missing: [84, 88, 94], dead: [150, 154, 160],
  controlled: [86, 180, 233], uncontrolled: [158, 158, 158], planned: [40, 200, 150],
  up: [255, 112, 74], down: [88, 170, 255], rest: [18, 21, 26], window: [240, 200, 80],
  diverging: [[168, 226, 255], [78, 168, 236], [40, 104, 176], [28, 58, 98], [24, 28, 36], [92, 40, 34], [172, 62, 44], [230, 112, 66], [255, 194, 136]],
  sequential: [[20, 24, 32], [26, 46, 88], [28, 80, 130], [26, 120, 152], [52, 162, 150], [122, 202, 140], [202, 230, 140], [250, 250, 204]],
};

/** Puts the colours of a scheme into a palette, which began as that of the figures. */
export function scheme(palette, figures, dark) {
  Object.assign(palette, figures, LIGHT, dark ? DARK : {});
}

/** `rgb(…)` of three numbers, with some opacity. */
export function ink([r, g, b], opacity = 1) {
  return `rgb(${r} ${g} ${b} / ${opacity})`;
}

/** The colour of a push from −1 to 1. */
export function pushColour(palette, share) {
  return ink(blend([palette.down, palette.rest, palette.up], 0.5 + 0.5 * share));
}

/** Maps values of a field to the colours of the figures. */
export class Scale {
  constructor(palette, low, high, diverging = low === -high) {
    this.diverging = diverging;
    this.low = low;
    this.high = high;
    this.shades = new Uint32Array(SHADES + 1);
    this.colour(palette);
  }

  /** Takes the colours of a palette. */
  colour(palette) {
    this.stops = this.diverging ? palette.diverging : palette.sequential;
    for (let k = 0; k < SHADES; k++) this.shades[k] = packed(blend(this.stops, k / (SHADES - 1)));
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
export function blend(stops, share) {
  const place = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const before = Math.min(Math.floor(place), stops.length - 2);
  return stops[before].map((a, c) => Math.round(a + (stops[before + 1][c] - a) * (place - before)));
}

function packed([r, g, b]) {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
