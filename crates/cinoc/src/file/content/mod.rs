//! The content of problem files: a [`Draft`] is read, checked and built.

mod curves;
mod data;
mod draft;
mod known;
mod map_data;
mod operators;
mod random_field;
mod section;
mod sections;
mod seen_field;
mod series;
mod sides;
mod written;
mod written_task;

use super::Opened;
use crate::limit::RangeLimit;
use crate::problem::Description;
use crate::problems::window_fits;
use crate::random::{Rng, Split, Stream};
use crate::sense::Sight;
use crate::settings::Setting;
use crate::task::Task;
use crate::{Error, Problem, Real, budget};
use cinoc_pde::Stepper;
use data::Data;
use draft::{AgentsText, Draft};
use known::Known;
use sections::{AnyAgents, Sections};
use seen_field::SeenField;
use std::path::Path;
use std::sync::Arc;
use toml::{Table, Value};
use written::WrittenEquation;
use written_task::WrittenTask;

/// Memory per cell, in bytes.
const BYTES_PER_CELL: f64 = 1000.0;

/// Opens a problem file with this text.
pub fn open(text: &str, place: &str) -> Result<Opened, Error> {
    let mut draft = Draft::read(text, place)?;
    draft.data = Data::read(&draft)?;
    check_size(&draft, &draft.cells)?;
    let (tree, policy, train) = sections::defaults(&draft, text)?;
    let stem = Path::new(place).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = stem.chars().filter(|c| c.is_alphanumeric() || *c == '_' || *c == '-').take(64).collect();
    let name = if name.is_empty() { "problem".into() } else { name };
    Ok(Opened { name, tree, policy, train, changes: draft.overlay()? })
}

fn draft(tree: &Table) -> Result<Draft, Error> {
    let get = |key: &str| tree.get("file").and_then(|file| file.get(key));
    let text = get("text").and_then(Value::as_str);
    let text = text.ok_or_else(|| section::fault("the settings", "file.text", "it is missing"))?;
    let mut draft = Draft::read(text, get("name").and_then(Value::as_str).unwrap_or("the problem file"))?;
    let data = get("data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let damaged = || section::fault("the settings", "file.data", "it is damaged; open the problem file again");
    draft.data = Data::of(data.iter().filter_map(Value::as_str)).ok_or_else(damaged)?;
    Ok(draft)
}

/// Every key of the sections of a problem.
pub fn table(tree: &Table) -> Result<Vec<Setting>, Error> {
    Ok(sections::table(&draft(tree)?))
}

fn check_size(draft: &Draft, cells: &[usize]) -> Result<(), Error> {
    if cells.len() != draft.size.len() {
        return Err(Error::bad(
            "physics.cells",
            format!("{cells:?}"),
            format!("{} numbers, one for each axis", draft.size.len()),
        ));
    }
    budget::check("this problem", BYTES_PER_CELL * cells.iter().map(|n| *n as f64).product::<f64>())
}

/// Rejects settings that do not fit the file.
pub fn check(tree: &Table) -> Result<(), Error> {
    let draft = draft(tree)?;
    let Sections { physics, observe, .. } = Sections::of(&draft, tree)?;
    check_size(&draft, &physics.cells)?;
    if observe.target {
        return Err(Error::bad("observe.target", "true", "false: agents of a problem file do not see the target itself"));
    }
    let shortest =
        draft.size.iter().zip(&physics.cells).map(|(size, n)| if draft.periodic() { *size } else { size - size / *n as f64 });
    window_fits(observe.window, shortest.fold(f64::INFINITY, f64::min) * (1.0 + 1e-6))
}

/// Builds the problem.
pub fn build(name: &str, tree: &Table) -> Result<Problem, Error> {
    parts(name, tree).map(|(problem, _)| problem)
}

/// Describes the problem.
pub fn describe(tree: &Table) -> Result<Description, Error> {
    let (problem, numerics) = parts("", tree)?;
    let draft = draft(tree)?;
    let AgentsText { error, speed, .. } = &draft.agents;
    let seen = error.clone().unwrap_or_else(|| match draft.task.target {
        Some(_) => format!("{} - target", draft.field),
        None => draft.field.clone(),
    });
    let (features, largest) = (problem.swarm.features(), problem.swarm.limits()[0] as f64);
    let [low, high] = draft.agents.range.map(|end| end * largest / draft.agents.range[1].max(-draft.agents.range[0]));
    Ok(Description {
        about: draft.about.clone(),
        equation: format!("d{0}/dt = {1}", draft.field, draft.equation),
        sees: format!(
            "{seen} and its slopes at points of a window around it: {} numbers, and {} more.",
            features.patch.count(),
            features.position
        ),
        acts: format!(
            "a push u*exp(-|x - position|^2/(2*sigma^2)), u from {low} to {high}{}.",
            if speed.is_some() { ", and a velocity, each component <= v_limit" } else { "" }
        ),
        score: format!("{}, {}.", draft.task.score, draft.task.when.words()),
        numerics,
    })
}

fn parts(name: &str, tree: &Table) -> Result<(Problem, Vec<String>), Error> {
    check(tree)?;
    let draft = draft(tree)?;
    let Sections { constants, physics, agents, observe } = Sections::of(&draft, tree)?;
    let known = Arc::new(Known::new(&draft, &physics.cells, &constants)?);
    let grid = known.grid.clone();
    let mut task = WrittenTask::new(&draft, known.clone(), physics.dt)?;
    let instance = |i| task.sample(&mut Rng::new(0, Stream::Validate, i), Split::Validation);
    let fields: Vec<_> = (0..4).map(instance).flat_map(|i| [i.start, i.target]).collect();
    let stepper = WrittenEquation::new(&draft, known.clone(), physics.dt, physics.ticks, &fields)?;
    let mut notes = stepper.treatments.clone();
    notes.push(stepper.steps());
    if let Some(fluid) = &known.fluid {
        let count = grid.count();
        notes.push(format!("{} of {count} cells are solid", count - fluid.len()));
    }
    let sight = Sight::around(&grid, &observe);
    let sense = SeenField::new(&draft, known, sight, physics.dt)?;
    task.timed |= stepper.timed() || sense.timed();
    let (mut swarm, count, limit, speed) = match agents {
        AnyAgents::Mobile(mobile) => {
            (mobile.swarm(&grid, sense, physics.dt), mobile.agents, mobile.u_limit, Some(mobile.v_limit))
        }
        AnyAgents::Static(fixed) => (fixed.seeing(&grid, sense), fixed.agents, fixed.u_limit, None),
    };
    let [low, high] = draft.agents.range;
    if -low != high {
        // The setting is the larger of both.
        let range = [low, high].map(|end| (end * limit / high.max(-low)) as Real);
        swarm =
            swarm.with_limit(RangeLimit::new(range, &vec![speed.unwrap_or(0.0) as Real; speed.map_or(0, |_| grid.dimensions())]));
    }
    let swarm = swarm.with_self_sensing(observe.self_sensing());
    let (stepper, task) = (Box::new(stepper), Box::new(task));
    Ok((Problem { name: name.into(), stepper, swarm, task, agents: count, ticks: physics.ticks }, notes))
}
