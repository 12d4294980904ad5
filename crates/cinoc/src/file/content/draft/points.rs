//! Points of the domain: positions of agents, and corners of boxes.

use super::super::section::{Section, as_number};
use crate::Error;
use toml::Value;

/// Reads points of `d` coordinates; on a line they may be plain numbers.
pub fn points_of(section: &Section, key: &str, value: &Value, d: usize) -> Result<Vec<Vec<f64>>, Error> {
    let point = |value: &Value| match value {
        Value::Array(all) => all.iter().map(as_number).collect::<Option<Vec<f64>>>().filter(|all| all.len() == d),
        other => as_number(other).filter(|_| d == 1).map(|x| vec![x]),
    };
    let points = value.as_array().and_then(|all| all.iter().map(point).collect::<Option<Vec<_>>>());
    points.filter(|all| !all.is_empty()).ok_or_else(|| {
        let example = ["[0.2, 0.7]", "[[0.2, 0.3], [0.7, 0.5]]", "[[0.2, 0.3, 0.5], [0.7, 0.5, 0.5]]"][d.clamp(1, 3) - 1];
        section.fault(key, format!("it must be a list of points, like {example}"))
    })
}
