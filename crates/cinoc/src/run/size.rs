//! Whether the network that settings ask for is of the size of the file that holds it: asked before memory is taken for it.

use crate::{Error, Problem};
use toml::{Table, Value};

/// A wider layer than this is refused unless the file is as large; the counts below do not overflow then.
const WIDEST: usize = 1 << 20;

/// The most often that a layer is applied to what one agent sees: once per pixel of the largest image.
const PIXELS: usize = 64 * 64;

/// `None`, or what is wrong with a file of `elements` numbers.
pub fn complaint(problem: &Problem, elements: usize) -> Result<Option<String>, Error> {
    let settings: Table = problem.config.to_toml().parse().unwrap_or_default();
    let policy = settings.get("policy");
    let widest = policy.map_or(0, largest);
    let weights = || -> Result<usize, Error> {
        // Two operations per weight, and more where a layer is applied to every pixel.
        let image = policy.and_then(|p| p.get("convolutions")).is_some_and(|c| largest(c) > 0);
        Ok(problem.policy()?.flops(1) / 2 / if image { PIXELS } else { 1 })
    };
    let wanted = if widest > WIDEST.max(elements) { widest } else { weights()? };
    Ok((wanted > elements).then(|| format!("its settings ask for a network of {wanted} numbers or more, it holds {elements}")))
}

/// The largest whole number anywhere inside.
fn largest(value: &Value) -> usize {
    match value {
        Value::Integer(i) => usize::try_from(*i).unwrap_or(0),
        Value::Array(all) => all.iter().map(largest).max().unwrap_or(0),
        Value::Table(all) => all.values().map(largest).max().unwrap_or(0),
        _ => 0,
    }
}
