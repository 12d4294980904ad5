//! What an agent by itself has to measure, or to be told, so that a policy can decide for it.

use super::Features;
use crate::Real;
use cinoc_pde::Grid;

/// Something that an agent measures, or is told, before it decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Instrument {
    /// Its name, a word that programming languages take for one.
    pub name: &'static str,
    /// How many numbers it gives.
    pub count: usize,
    /// What they are, in which order and unit.
    pub about: String,
    /// How they follow from what else an agent may know.
    pub source: Source,
}

/// How readings follow from what else an agent may know.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// They do not: they have to be measured, or told.
    Measured,
    /// Samples of the error `z − z*` around the agent, if that is known as a function of the place.
    Error(Lens),
    /// Slopes of the error at the same places, `[points, axes]`.
    Slope,
    /// Gaps to living neighbours, in sectors where there are two axes, if it is known where they are.
    Gaps(Domain),
    /// How crowded the place is, likewise: neighbours within this distance count.
    Crowd(Real),
}

/// Where agents live.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Lengths of the axes.
    pub lengths: Vec<Real>,
    /// Whether leaving at one end means entering at the other; otherwise there are walls.
    pub periodic: bool,
}

impl Domain {
    /// That of a grid.
    pub fn of(grid: &Grid) -> Self {
        Self { lengths: grid.lengths.clone(), periodic: grid.periodic }
    }
}

/// The points at which an agent samples the field around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lens {
    /// Where they are, relative to the agent; points beyond a wall are moved onto it.
    pub offsets: Vec<Vec<Real>>,
    /// Slopes are central differences over a step of this length to either side, along each axis.
    pub steps: Vec<Real>,
    /// Where they may lie.
    pub domain: Domain,
}

impl Instrument {
    /// Something that is measured as it is.
    pub fn new(name: &'static str, count: usize, about: impl Into<String>) -> Self {
        Self { name, count, about: about.into(), source: Source::Measured }
    }

    /// The same, which also follows from something else.
    pub fn with_source(self, source: Source) -> Self {
        Self { source, ..self }
    }

    /// The numbers that a policy is shown, where nothing else is known of them.
    pub fn bare(features: &Features) -> Vec<Self> {
        let seen = "what the policy sees of the field, in the order and units of the problem's own view";
        let known = "what it knows of its place and of others, likewise";
        vec![Self::new("seen", features.patch.count(), seen), Self::new("known", features.position, known)]
    }
}
