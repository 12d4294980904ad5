//! Checks that the parts of an episode fit together, so that drawing code can index without checks.

use super::Episode;
use anyhow::{Result, ensure};

/// Checks the shapes of all parts of the episode.
pub fn shapes(episode: &Episode) -> Result<()> {
    match episode {
        Episode::Line(line) => {
            ensure!(line.target.len() > 1, "a field needs at least two values to be drawn");
            let fields = [&line.uncontrolled, &line.controlled];
            series(fields, line.target.len())?;
            agents(&line.xi, &line.alive, line.controlled.len())?;
            controls(&line.u, &line.v, &line.xi)
        }
        Episode::Plane(plane) => {
            let ([x, y], z) = (plane.shape, plane.depth.map_or(1, |(count, _)| count));
            ensure!(x > 1 && y > 1 && z > 0, "a field needs at least 2 × 2 values to be drawn");
            ensure!(plane.target.len() == x * y * z, "the target has {} values, not {x} × {y} × {z}", plane.target.len());
            series([&plane.uncontrolled, &plane.controlled], x * y * z)?;
            agents(&plane.xi, &plane.alive, plane.controlled.len())?;
            controls(&plane.u, &plane.v, &plane.xi)
        }
    }
}

fn series(fields: [&Vec<Vec<f32>>; 2], values: usize) -> Result<()> {
    let [uncontrolled, controlled] = fields;
    ensure!(controlled.len() > 1, "an episode needs at least one tick to be drawn");
    ensure!(
        uncontrolled.len() == controlled.len(),
        "{} uncontrolled but {} controlled fields",
        uncontrolled.len(),
        controlled.len()
    );
    let even = fields.into_iter().flatten().all(|field| field.len() == values);
    ensure!(even, "a field does not have the target's {values} values");
    Ok(())
}

fn agents<P>(xi: &[Vec<P>], alive: &[Vec<bool>], ticks: usize) -> Result<()> {
    ensure!(
        xi.len() == ticks && alive.len() == ticks,
        "{} rows of positions and {} of active agents for {ticks} fields",
        xi.len(),
        alive.len()
    );
    let count = xi[0].len();
    let same = xi.iter().all(|row| row.len() == count);
    let same = same && alive.iter().all(|row| row.len() == count);
    ensure!(same, "the number of agents changes within the episode");
    Ok(())
}

fn controls<P, V>(u: &[Vec<f32>], v: &[Vec<V>], xi: &[Vec<P>]) -> Result<()> {
    let (ticks, agents) = (xi.len() - 1, xi[0].len());
    let fits = u.len() == ticks && u.iter().all(|row| row.len() == agents);
    ensure!(fits, "controls are not one per agent and tick");
    let fits = v.iter().all(|row| row.is_empty() || row.len() == agents);
    ensure!(v.len() <= ticks && fits, "velocities are not one per agent and tick");
    Ok(())
}
