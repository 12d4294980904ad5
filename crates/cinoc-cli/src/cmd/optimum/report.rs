//! Results of searches as summary and table.

use crate::cmd::short;
use crate::out::say;
use anyhow::Result;
use cinoc_lab::optimum::{OptimumRecord, RecedingRecord, Spread, State};
use serde_json::{Value, json};

fn spread<T>(all: &[T], value: impl Fn(&T) -> Option<f64>) -> Option<Spread> {
    Spread::of(all.iter().filter_map(value))
}

fn mean<T>(all: &[T], value: impl Fn(&T) -> Option<f64>) -> Option<f64> {
    spread(all, value).map(|spread| spread.mean)
}

/// Summary of the optima of all instances.
pub fn of_found(all: &[OptimumRecord]) -> Value {
    let free = mean(all, |f| Some(f.uncontrolled)).unwrap_or(f64::NAN);
    json!({
        "optimum": spread(all, |f| Some(f.optimum)), "uncontrolled": spread(all, |f| Some(f.uncontrolled)),
        "policy": spread(all, |f| f.policy), "bound_unlimited_static": spread(all, |f| f.bound_unlimited_static),
        "ratio": mean(all, |f| Some(f.optimum)).map(|mean| mean / free), "policy_ratio": mean(all, |f| f.policy).map(|mean| mean / free),
        "ratios": spread(all, |f| Some(f.optimum / f.uncontrolled)), "policy_ratios": spread(all, |f| Some(f.policy? / f.uncontrolled)),
        "gap": spread(all, |f| Some(f.policy? / f.optimum)), "iterations": mean(all, |f| Some(f.iterations as f64)),
        "evaluations": mean(all, |f| Some(f.evaluations as f64)), "seconds": mean(all, |f| Some(f.seconds)),
        "converged": all.iter().filter(|f| f.converged).count(),
        "ended_by_rounding": all.iter().filter(|f| f.ended == State::Rounding).count(),
    })
}

/// A line for each instance, and their means.
pub fn found(all: &[OptimumRecord], summary: &Value, iterations: usize) -> Result<()> {
    let bounded = all.iter().any(|f| f.bound_unlimited_static.is_some());
    let bound = |text: &str| if bounded { format!(" {text:>13}") } else { String::new() };
    say!(
        "{:>8} {:>13} {:>10} {:>10}{} {:>8} {:>10} {:>8}",
        "instance",
        "uncontrolled",
        "policy",
        "optimum",
        bound("static bound"),
        "from",
        "iterations",
        "seconds"
    )?;
    for f in all {
        say!(
            "{:>8} {:>13} {:>10} {:>10}{} {:>8} {:>10} {:>8.1}{}",
            f.instance,
            short(f.uncontrolled),
            f.policy.map_or("-".into(), short),
            short(f.optimum),
            bound(&f.bound_unlimited_static.map_or("-".into(), short)),
            serde_json::to_value(f.from)?.as_str().unwrap_or_default(),
            f.iterations,
            f.seconds,
            match f.ended {
                State::Rounding => "  ended by rounding",
                _ if f.converged => "",
                _ => "  not converged",
            }
        )?;
    }
    let number = |key: &str| summary[key].as_f64().map_or("-".into(), short);
    say!("\nMean over mean uncontrolled: optimum {}, policy {}.", number("ratio"), number("policy_ratio"))?;
    match all.iter().filter(|f| f.ended == State::Exhausted).count() {
        0 => Ok(()),
        open => say!("{open} of {} did not converge; add --iterations {} for lower values.", all.len(), 4 * iterations),
    }
}

/// Summary of all instances under a receding horizon.
pub fn of_receded(all: &[RecedingRecord]) -> Value {
    let free = mean(all, |f| Some(f.uncontrolled)).unwrap_or(f64::NAN);
    json!({
        "score": spread(all, |f| Some(f.score)), "cost": spread(all, |f| Some(f.cost)),
        "uncontrolled": spread(all, |f| Some(f.uncontrolled)), "ratio": mean(all, |f| Some(f.score)).map(|mean| mean / free),
        "ratios": spread(all, |f| Some(f.score / f.uncontrolled)), "decisions": all.iter().map(|f| f.decisions).sum::<usize>(),
        "evaluations": mean(all, |f| Some(f.evaluations as f64 / f.decisions as f64)),
        "cut": all.iter().map(|f| f.cut).sum::<usize>(), "decision_seconds": spread(all, |f| Some(f.seconds)),
        "decision_seconds_worst": all.iter().map(|f| f.seconds_worst).fold(0.0, f64::max),
    })
}

/// A line for each instance, and their means.
pub fn receded(all: &[RecedingRecord]) -> Result<()> {
    say!(
        "{:>8} {:>13} {:>10} {:>10} {:>9} {:>11} {:>15} {:>10}",
        "instance",
        "uncontrolled",
        "score",
        "cost",
        "decisions",
        "evaluations",
        "ms per decision",
        "worst"
    )?;
    for f in all {
        say!(
            "{:>8} {:>13} {:>10} {:>10} {:>9} {:>11} {:>15.2} {:>10.2}",
            f.instance,
            short(f.uncontrolled),
            short(f.score),
            short(f.cost),
            f.decisions,
            f.evaluations,
            1e3 * f.seconds,
            1e3 * f.seconds_worst
        )?;
    }
    let ratio = of_receded(all)["ratio"].as_f64().map_or("-".into(), short);
    say!("\nMean over mean uncontrolled: {ratio}.")
}
