/** Colours of a GIF; the last one means "as before". */
const COLOURS = 256;
const KEPT = COLOURS - 1;

/** A GIF film whose frames share one set of colours; pixels that do not change take no space. */
export class Gif {
  /** A film of `width` × `height` pixels in at most 255 colours, each `[r, g, b]`. */
  constructor(width, height, colours) {
    [this.width, this.height, this.colours] = [width, height, colours.slice(0, KEPT)];
    this.parts = [this.head()];
    this.nearest = new Int16Array(1 << 18).fill(-1);
    this.before = null;
    this.count = 0;
  }

  head() {
    const bytes = [...word("GIF89a"), ...short(this.width), ...short(this.height), 0xf7, 0, 0];
    for (let k = 0; k < COLOURS; k++) bytes.push(...(this.colours[k] ?? [0, 0, 0]));
    return Uint8Array.from([...bytes, 0x21, 0xff, 11, ...word("NETSCAPE2.0"), 3, 1, 0, 0, 0]);
  }

  /** Adds a frame from the bytes of an ImageData, shown for some hundredths of a second. */
  frame(data, hundredths) {
    const pixels = this.indices(data);
    const box = this.changed(pixels);
    const inside = new Uint8Array(box.width * box.height);
    for (let y = 0, at = 0; y < box.height; y++) {
      for (let x = 0; x < box.width; x++, at++) {
        const i = (box.y + y) * this.width + box.x + x;
        inside[at] = this.before && this.before[i] === pixels[i] ? KEPT : pixels[i];
      }
    }
    this.before = pixels;
    this.count += 1;
    this.parts.push(Uint8Array.from([
      0x21, 0xf9, 4, 0x05, ...short(hundredths), KEPT, 0,
      0x2c, ...short(box.x), ...short(box.y), ...short(box.width), ...short(box.height), 0, 8,
    ]), blocks(compress(inside)));
  }

  /** The colour of each pixel. */
  indices(data) {
    const pixels = new Uint8Array(this.width * this.height);
    for (let i = 0, at = 0; i < pixels.length; i++, at += 4) {
      const key = ((data[at] >> 2) << 12) | ((data[at + 1] >> 2) << 6) | (data[at + 2] >> 2);
      if (this.nearest[key] < 0) this.nearest[key] = this.search(data[at], data[at + 1], data[at + 2]);
      pixels[i] = this.nearest[key];
    }
    return pixels;
  }

  search(r, g, b) {
    let [best, least] = [0, Infinity];
    this.colours.forEach(([cr, cg, cb], k) => {
      const away = 2 * (cr - r) ** 2 + 4 * (cg - g) ** 2 + 3 * (cb - b) ** 2;
      if (away < least) [least, best] = [away, k];
    });
    return best;
  }

  /** The smallest box around the pixels that differ from the frame before. */
  changed(pixels) {
    const { width, height, before } = this;
    if (!before) return { x: 0, y: 0, width, height };
    let [x0, y0, x1, y1] = [width, height, 0, 0];
    for (let y = 0, i = 0; y < height; y++) {
      for (let x = 0; x < width; x++, i++) {
        if (pixels[i] === before[i]) continue;
        [x0, y0, x1, y1] = [Math.min(x0, x), Math.min(y0, y), Math.max(x1, x), Math.max(y1, y)];
      }
    }
    return x0 > x1 ? { x: 0, y: 0, width: 1, height: 1 } : { x: x0, y: y0, width: x1 - x0 + 1, height: y1 - y0 + 1 };
  }

  /** The file. */
  blob() {
    return new Blob([...this.parts, Uint8Array.of(0x3b)], { type: "image/gif" });
  }
}

function word(text) {
  return Array.from(text, (c) => c.charCodeAt(0));
}

function short(value) {
  return [value & 255, value >> 8];
}

/** Blocks of at most 255 bytes, each with its length before it. */
function blocks(bytes) {
  const out = new Uint8Array(bytes.length + Math.ceil(bytes.length / 255) + 1);
  let at = 0;
  for (let from = 0; from < bytes.length; from += 255) {
    const part = bytes.subarray(from, from + 255);
    out[at] = part.length;
    out.set(part, at + 1);
    at += part.length + 1;
  }
  return out;
}

/** Lempel, Ziv and Welch's compression of 8-bit numbers, as GIF has it. */
function compress(pixels) {
  const [clear, end] = [256, 257];
  let out = new Uint8Array(1 << 16);
  let [length, bits, filled, size] = [0, 0, 0, 9];
  const write = (code) => {
    bits |= code << filled;
    filled += size;
    while (filled >= 8) {
      if (length === out.length) {
        const more = new Uint8Array(2 * length);
        more.set(out);
        out = more;
      }
      out[length++] = bits & 255;
      bits >>>= 8;
      filled -= 8;
    }
  };
  let codes = new Map();
  let next = 258;
  write(clear);
  let prefix = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const key = (prefix << 8) | pixels[i];
    const known = codes.get(key);
    if (known !== undefined) {
      prefix = known;
      continue;
    }
    write(prefix);
    if (next < 4096) {
      if (next === 1 << size) size += 1;
      codes.set(key, next++);
    } else {
      write(clear);
      [codes, next, size] = [new Map(), 258, 9];
    }
    prefix = pixels[i];
  }
  write(prefix);
  write(end);
  // The last bits.
  size = 8;
  if (filled > 0) write(0);
  return out.subarray(0, length);
}
