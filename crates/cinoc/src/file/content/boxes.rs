//! Limits of problems in a box.

use super::draft::Draft;
use super::sections::{AnyAgents, BOX_POINTS, Sections};
use crate::Error;

/// Largest number of samples along each axis.
const MOST_POINTS: usize = 8;

/// Largest number of cells of a box.
const MOST_CELLS: usize = 1 << 22;

fn is_box(draft: &Draft) -> bool {
    draft.size.len() == 3
}

/// Rejects what a file in a box cannot say.
pub fn check_file(draft: &Draft) -> Result<(), Error> {
    if !is_box(draft) {
        return Ok(());
    }
    let constants = draft.constants.iter().map(|constant| ("constants", constant.name.as_str()));
    let maps = draft.maps.iter().map(|map| ("maps", map.name.as_str()));
    let fields = draft.fields.iter().map(|field| ("fields", field.name.as_str()));
    let mut names = fields.chain(constants).chain(maps);
    if let Some((section, _)) = names.find(|(_, name)| *name == "z") {
        let reason = "z is the third coordinate of a box; choose another name, like T";
        return Err(draft.fault(format!("{section}.z"), reason));
    }
    if draft.agents.gaps.is_some_and(|gaps| gaps > 0.0) {
        return Err(draft.fault("agents.see.gaps", "gaps to neighbours are not observed in three dimensions; remove it"));
    }
    match draft.agents.points {
        Some(points) if points > MOST_POINTS => {
            let reason = format!("it can be at most {MOST_POINTS} in three dimensions, like points = {BOX_POINTS}");
            Err(draft.fault("agents.see.points", reason))
        }
        _ => Ok(()),
    }
}

/// Rejects more cells than a box can have.
pub fn check_cells(cells: &[usize]) -> Result<(), Error> {
    let count = cells.iter().fold(1usize, |count, n| count.saturating_mul(*n));
    if cells.len() < 3 || count <= MOST_CELLS {
        return Ok(());
    }
    Err(Error::bad("physics.cells", format!("{cells:?}"), format!("at most {MOST_CELLS} cells in all, like [64, 64, 64]")))
}

/// Rejects settings that a box does not have.
pub fn check_settings(draft: &Draft, Sections { agents, observe, .. }: &Sections) -> Result<(), Error> {
    if !is_box(draft) {
        return Ok(());
    }
    let crowd = match agents {
        AnyAgents::Mobile(mobile) => mobile.crowd,
        AnyAgents::Static(fixed) => fixed.crowd,
    };
    for (key, set) in [("observe.roughness", observe.roughness), ("observe.fitted_slopes", observe.fitted_slopes)] {
        if set {
            return Err(Error::bad(key, "true", "false in three dimensions"));
        }
    }
    for (key, value) in [("observe.gaps", observe.gaps), ("swarm.crowd", crowd)] {
        if value > 0.0 {
            return Err(Error::bad(key, value.to_string(), "0 in three dimensions"));
        }
    }
    if observe.points > MOST_POINTS {
        return Err(Error::bad(
            "observe.points",
            observe.points.to_string(),
            format!("at most {MOST_POINTS} in three dimensions"),
        ));
    }
    Ok(())
}
