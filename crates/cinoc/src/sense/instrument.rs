//! Instruments: measurements from which a policy decides for a single agent.

use super::Features;
use crate::Real;
use cinoc_pde::Grid;

/// A quantity that an agent measures, or is given, before it decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Instrument {
    /// Name, a valid identifier in programming languages.
    pub name: &'static str,
    /// Number of values.
    pub count: usize,
    /// Description of the values, with their order and unit.
    pub about: String,
    /// Derivation of the values from other information.
    pub source: Source,
}

/// Derivation of readings from other information that an agent may have.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Readings that must be measured or given.
    Measured,
    /// Samples of the error `z − z*` around the agent, if the error is known as a function of position.
    Error(Lens),
    /// Slopes of the error at the same points, `[points, axes]`.
    Slope,
    /// Mask of lost samples: 0 for a sample that was read in this tick, 1 for one that was not.
    Lost,
    /// Gaps to active neighbours, in sectors if there are two axes, from their positions.
    Gaps(Domain),
    /// Crowding, from the positions of neighbours within this distance.
    Crowd(Real),
}

/// Domain of agents.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Lengths of the axes.
    pub lengths: Vec<Real>,
    /// True for each periodic axis; others have walls.
    pub periodic: Vec<bool>,
}

impl Domain {
    /// Returns the domain of a grid.
    pub fn of(grid: &Grid) -> Self {
        Self { lengths: grid.lengths.clone(), periodic: grid.periodic.clone() }
    }

    /// Returns true if all axes are periodic.
    pub fn is_periodic(&self) -> bool {
        self.periodic.iter().all(|periodic| *periodic)
    }

    /// Returns true if all axes have walls.
    pub fn has_walls(&self) -> bool {
        self.periodic.iter().all(|periodic| !periodic)
    }
}

/// Points at which an agent samples the field around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lens {
    /// Offsets from the agent; points beyond a wall are moved onto it.
    pub offsets: Vec<Vec<Real>>,
    /// Step to either side of the central differences for slopes, along each axis.
    pub steps: Vec<Real>,
    /// Domain of the points.
    pub domain: Domain,
}

impl Instrument {
    /// Creates an instrument whose values are measured directly.
    pub fn new(name: &'static str, count: usize, about: impl Into<String>) -> Self {
        Self { name, count, about: about.into(), source: Source::Measured }
    }

    /// Sets the derivation of the values from other information.
    pub fn with_source(self, source: Source) -> Self {
        Self { source, ..self }
    }

    /// Returns instruments that read the values of an observation directly, if nothing else is known about them.
    pub fn bare(features: &Features) -> Vec<Self> {
        let seen = "the policy's view of the field, in the order and units of the problem";
        let known = "position features and other known quantities, likewise";
        vec![Self::new("seen", features.patch.count(), seen), Self::new("known", features.position, known)]
    }
}
