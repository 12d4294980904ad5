/** `10⁻⁴` and the like. */
export function powerOfTen(power) {
  return "10" + String(power).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
}

/** A number with two digits. */
export function short(x) {
  if (!Number.isFinite(x)) return "—";
  if (x === 0) return "0";
  // Rounded first: 9.97e-7 is 1.0e-6, not 10.0e-7.
  const [digits, exponent] = x.toExponential(1).split("e");
  const power = Number(exponent);
  if (power >= -2 && power < 4) return minus(x.toFixed(Math.max(0, 1 - power)));
  return `${minus(digits)}·${powerOfTen(power)}`;
}

/** A number beside others that are `step` apart. */
export function beside(value, step) {
  const digits = Math.max(0, -Math.floor(Math.log10(step * 1.001)));
  return minus(Math.abs(value) < step * 1e-6 ? "0" : value.toFixed(Math.min(digits, 8)));
}

function minus(text) {
  return text.replace("-", "−");
}

/** About `count` round values between two, each with its text. */
export function evenTicks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= 0.99 * rough) ?? rough;
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-3); k <= high / step + 1e-3; k++) ticks.push([k * step, beside(k * step, step)]);
  return ticks;
}

/** Powers of ten between two, with texts for about `count` of them. */
export function decadeTicks(low, high, count) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-3), Math.floor(Math.log10(high) + 1e-3)];
  const skip = Math.max(1, Math.ceil((last - first + 1) / (count + 1)));
  const ticks = [];
  for (let p = first; p <= last; p++) ticks.push([10 ** p, (((p % skip) + skip) % skip) === 0 ? powerOfTen(p) : ""]);
  return ticks;
}
