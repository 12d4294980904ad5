import { Engine } from "./engine.js";

/** Searches for the best actions in a worker, which runs this same code with a separate engine, while the page plays. */
export function searchBeside(module, model, beginning, iterations, heard) {
  const code = new Blob([document.getElementById("code").textContent], { type: "text/javascript" });
  const url = URL.createObjectURL(code);
  // Not as a module: from a page that is a file, browsers start plain scripts alone.
  const worker = new Worker(url);
  const found = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      if (data.progress) return heard(data.progress);
      worker.terminate();
      if (data.actions) resolve(data.actions);
      else reject(new Error(data.fault));
    };
    worker.onerror = (event) => reject(new Error(event.message || "this browser does not let a page search beside itself"));
  });
  worker.postMessage({ module, model, beginning, iterations });
  return { found, stop: () => { worker.terminate(); URL.revokeObjectURL(url); } };
}

/** What the worker does. */
export async function search({ module, model, beginning, iterations }) {
  try {
    const engine = await Engine.open(module, model, (share, policy, best) => postMessage({ progress: { share, policy, best } }));
    if (engine.facts.discs) {
      engine.give(beginning.discs);
      engine.attempt("set_discs");
    }
    engine.give(beginning.numbers);
    engine.attempt("begin_at", beginning.agents);
    engine.attempt("optimise", iterations);
    const at = engine.calls.output();
    postMessage({ actions: new Float32Array(engine.calls.memory.buffer.slice(at, at + engine.calls.output_length())) });
  } catch (error) {
    postMessage({ fault: error.message });
  }
}
