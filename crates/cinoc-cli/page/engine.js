/** Lanes in the order of the engine. */
export const LEARNED = 0;
export const UNCONTROLLED = 1;
export const PLANNED = 2;

/** The engine: the Rust that trains, compiled to WebAssembly, behind calls that take and give numbers. */
export class Engine {
  /** An engine for a model; `report(share, policy, best)` hears how far a search is. */
  static async open(module, model, report = () => {}) {
    const engine = new Engine();
    const complain = (at, length) => { engine.fault = engine.text(at, length); };
    const instance = await WebAssembly.instantiate(module, { page: { complain, report } });
    engine.calls = instance.exports;
    // Engines of other crates say here what else they know.
    engine.calls.setup?.();
    engine.give(model);
    engine.attempt("open");
    engine.facts = JSON.parse(engine.said());
    engine.nodes = engine.facts.nodes.reduce((all, n) => all * n, 1);
    return engine;
  }

  /** Calls the engine; what it says when it breaks becomes an error. */
  call(name, ...values) {
    try {
      return this.calls[name](...values);
    } catch (error) {
      throw new Error(this.fault ? `The engine stopped: ${this.fault}. Please reload the page.` : String(error));
    }
  }

  /** The same for calls that may refuse. */
  attempt(name, ...values) {
    if (this.call(name, ...values) === 0) throw new Error(this.said());
  }

  /** Bytes, or numbers, that the next call takes. */
  give(values) {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const at = this.call("input", bytes.length);
    new Uint8Array(this.calls.memory.buffer).set(bytes, at);
  }

  text(at, length) {
    return new TextDecoder().decode(new Uint8Array(this.calls.memory.buffer, at, length));
  }

  /** What the last call left, as text. */
  said() {
    return this.text(this.calls.output(), this.calls.output_length());
  }

  /** Numbers that a call gives: a copy. */
  numbers(name, ...values) {
    this.call(name, ...values);
    const at = this.calls.output();
    return new Float32Array(this.calls.memory.buffer.slice(at, at + this.calls.output_length()));
  }

  /** Begins with a start and a target. */
  begin(fields, agents) {
    this.give(fields);
    this.attempt("begin", agents);
  }

  /** Everything that a search has to know of where the lanes begin; another engine takes it with `begin_at`. */
  beginning() {
    const parts = [this.numbers("field", LEARNED), this.numbers("target"), this.numbers("positions", LEARNED), this.numbers("strength", LEARNED)];
    const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
    return { numbers: all, agents: parts[3].length, discs: this.numbers("discs") };
  }
}
