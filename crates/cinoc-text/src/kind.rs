//! Kinds of values: rank, axis and dependence.

use std::fmt;

/// Rank of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rank {
    /// A number.
    Scalar,
    /// As many numbers as the domain has dimensions.
    Vector,
    /// True or false: comparisons and zones.
    Condition,
}

/// Axis along which a value has entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// None: one value per instance.
    Instance,
    /// One value per cell.
    Cells,
    /// One value per agent.
    Agents,
}

/// Kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Scalar, vector or condition.
    pub rank: Rank,
    /// Axis of its entries.
    pub axis: Axis,
    /// It depends on fields of the state.
    pub state: bool,
    /// It changes during an episode for another reason: time or the agents' actions.
    pub time: bool,
}

impl Kind {
    const fn scalar(axis: Axis, state: bool, time: bool) -> Self {
        Self { rank: Rank::Scalar, axis, state, time }
    }

    /// A field of the state: per cell.
    pub const FIELD: Self = Self::scalar(Axis::Cells, true, false);
    /// A constant: per instance.
    pub const CONSTANT: Self = Self::scalar(Axis::Instance, false, false);
    /// A map, a coordinate or a fixed target: per cell, constant in time.
    pub const MAP: Self = Self::scalar(Axis::Cells, false, false);
    /// A function of time: per instance.
    pub const SERIES: Self = Self::scalar(Axis::Instance, false, true);
    /// The effect of agents on cells through a channel: per cell, new in each tick.
    pub const CHANNEL: Self = Self::scalar(Axis::Cells, false, true);
    /// Decisions of agents: per agent, new in each tick.
    pub const ACTION: Self = Self::scalar(Axis::Agents, false, true);
    /// A zone of the domain: a map of ones and zeros, used as a condition.
    pub const ZONE: Self = Self { rank: Rank::Condition, ..Self::MAP };

    /// The same with as many components as the domain has dimensions.
    pub const fn vector(self) -> Self {
        Self { rank: Rank::Vector, ..self }
    }

    /// The kind of what is computed from both, with the rank of `self`; `None` between cells and agents.
    pub(crate) fn joined(self, other: Self) -> Option<Self> {
        let axis = match (self.axis, other.axis) {
            (Axis::Instance, axis) | (axis, Axis::Instance) => axis,
            (a, b) if a == b => a,
            _ => return None,
        };
        Some(Self { axis, state: self.state || other.state, time: self.time || other.time, ..self })
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Scalar => "a scalar",
            Self::Vector => "a vector",
            Self::Condition => "a condition",
        })
    }
}
