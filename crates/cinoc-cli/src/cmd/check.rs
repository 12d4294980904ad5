//! `cinoc check`

use super::{Settings, short, whole};
use crate::draw::{self, Growth};
use crate::out::{has_folder, say};
use crate::progress::Meter;
use anyhow::Result;
use cinoc::Registry;
use cinoc::internal::shown;
use cinoc_lab::convergence::{Observed, convergence};
use cinoc_lab::inspect;
use std::path::PathBuf;

/// Arguments of `cinoc check`.
#[derive(clap::Args)]
pub struct CheckArgs {
    #[command(flatten)]
    settings: Settings,
    /// Longest episode whose gradient is measured, in ticks; default: that of the problem.
    #[arg(long, value_name = "TICKS", value_parser = whole::<usize>)]
    horizon: Option<usize>,
    /// Draw the norm of the gradient against the horizon into this file: .png or .svg.
    #[arg(short, long = "out", value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Steps of the finite differences: large ones show curvature, small ones rounding.
const STEPS: [f64; 7] = [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];

impl CheckArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        self.out.as_deref().map_or(Ok(()), has_folder)?;
        let config = self.settings.config(registry)?;
        let whole = registry.parts(&config)?;
        let problem = &whole.problem;
        let meter = Meter::new(0.0, "derivatives of a tick");
        let parts = inspect::parts(problem);
        let ticks = problem.ticks.min(20);
        meter.set(0.1);
        meter.tell("gradient by the parameters");
        let sweep = inspect::sweep(registry, &config, ticks, &STEPS)?;
        meter.set(0.4);
        meter.tell("gradient by the inputs");
        let inputs = inspect::inputs(problem, problem.ticks.min(6), &STEPS);
        let horizons = horizons(self.horizon.unwrap_or(problem.ticks).max(2));
        // Each takes as long as its episode; the longest first, so that one that does not fit is refused at once.
        let (all, mut done, mut growth) = (horizons.iter().map(|&ticks| ticks as f64).sum::<f64>(), 0.0, Vec::new());
        for &ticks in horizons.iter().rev() {
            meter.set(0.6 + 0.4 * done / all);
            meter.tell(format!("gradient of {ticks} ticks"));
            growth.extend(inspect::growth(registry, &config, &[ticks])?);
            done += ticks as f64;
        }
        growth.reverse();
        meter.tell("cells and steps");
        let orders = convergence(registry, &config)?;
        meter.clear();
        if let Some(out) = &self.out {
            draw::draw_growth(&format!("{} · gradient of an untrained policy", problem.name), &[figure(&growth)], out)?;
        }
        let [kept, lean, one] = inspect::memory(&whole);
        if self.json {
            let line = serde_json::json!({
                "problem": problem.name, "precision": precision(),
                "parts": parts.iter().map(|(n, e)| serde_json::json!({"part": n, "error": e})).collect::<Vec<_>>(),
                "inputs": inputs.iter().map(|(n, e)| serde_json::json!({"by": n, "error": e})).collect::<Vec<_>>(),
                "sweep": {"ticks": ticks, "points": sweep.iter().map(|(s, e)| serde_json::json!({"step": s, "error": e})).collect::<Vec<_>>()},
                "growth": growth.iter().map(|(t, n)| serde_json::json!({"ticks": t, "gradient": n})).collect::<Vec<_>>(),
                "convergence": orders.as_ref().map(|orders| serde_json::json!({
                    "ticks": orders.ticks, "cells": order(&orders.cells), "steps": order(&orders.steps),
                })),
                "memory_mb": {"kept": mega(kept), "rematerialised": mega(lean), "recomputed": mega(one)},
            });
            say!("{line}")?;
            return Ok(());
        }
        say!("{} in {}\n", problem.name, precision())?;
        say!("Derivative of each part of a tick against central differences (relative error):")?;
        for (name, error) in parts {
            say!("  {name:8} {}", short(error))?;
        }
        say!("\nGradient of the cost of {ticks} ticks by all parameters, against central differences of several steps:")?;
        for (step, error) in &sweep {
            say!("  step {step:.0e}   error {}", short(*error))?;
        }
        let best = sweep.iter().map(|(_, e)| *e).fold(f64::INFINITY, f64::min);
        say!("  best {}", short(best))?;
        say!("\nGradient of the cost of a few ticks by the other inputs, against central differences:")?;
        for (name, error) in &inputs {
            say!("  {name:8} {}", short(*error))?;
        }
        say!("\nNorm of the gradient at initial parameters against the horizon:")?;
        for (ticks, norm) in growth {
            say!("  {ticks:5} ticks   {}", short(norm))?;
        }
        if let Some(orders) = &orders {
            say!("\nThe field after {} ticks of constant pushes, with more cells and with more steps of a tick:", orders.ticks)?;
            say!("  {}", refined("cells", &orders.cells))?;
            say!("  {}", refined("steps", &orders.steps))?;
        }
        say!(
            "\nMemory of one update: {:.0} MB keeping all values, {:.0} MB rematerialising what can be recomputed, {:.1} MB computing each segment twice.",
            mega(kept),
            mega(lean),
            mega(one)
        )?;
        say!("(train.memory_mb = {} decides between them.)", whole.train.memory_mb)?;
        if let Some(out) = &self.out {
            say!("\nDrew {}", shown(out))?;
        }
        Ok(())
    }
}

/// Episodes from a few ticks to `longest`, each twice as long as the one before.
fn horizons(longest: usize) -> Vec<usize> {
    let mut all: Vec<usize> =
        std::iter::successors(Some(longest), |h| Some(h / 2)).take_while(|&h| h >= 6.min(longest)).collect();
    all.reverse();
    all
}

/// The norms, beside growth in proportion to the ticks.
fn figure(growth: &[(usize, f64)]) -> Growth {
    let measured: Vec<(f32, f32)> = growth.iter().map(|&(ticks, norm)| (ticks as f32, norm as f32)).collect();
    let (first, last) = (measured[0], measured[measured.len() - 1]);
    Growth {
        title: "against the length of the episode".into(),
        axis: "ticks",
        measure: "norm of the gradient",
        fit: vec![first, (last.0, first.1 * last.0 / first.0)],
        measured,
        formula: "in proportion to the ticks".into(),
    }
}

/// A refinement as JSON.
fn order(observed: &Observed) -> serde_json::Value {
    let order = observed.is_resolved().then(|| observed.order());
    serde_json::json!({"sizes": observed.sizes, "differences": observed.differences, "order": order})
}

/// A refinement in words.
fn refined(what: &str, observed: &Observed) -> String {
    let size = |size: &[usize]| size.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
    let [first, second, third] = observed.sizes.each_ref().map(|all| size(all));
    let [rough, fine] = observed.differences.map(short);
    let order = if observed.is_resolved() { format!("order {:.1}", observed.order()) } else { "rounding".into() };
    format!("{first}, {second}, {third} {what}: differences {rough}, {fine} of its change; {order}")
}

fn precision() -> &'static str {
    if size_of::<cinoc::Real>() == 8 { "f64" } else { "f32" }
}

fn mega(bytes: usize) -> f64 {
    bytes as f64 / (1 << 20) as f64
}
