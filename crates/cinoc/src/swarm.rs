//! Agents: initial positions, sensors, limits, actuators and motion, put together as a [`Swarm`].
//!
//! ```
//! let problem = cinoc::problem("heat2d")?;
//! let swarm = &problem.problem().swarm;
//! assert_eq!((swarm.dimensions(), swarm.action_width()), (2, 3));
//! assert_eq!(swarm.start(16).len(), 16 * 2);
//! # Ok::<(), cinoc::Error>(())
//! ```

pub use crate::actuate::{Actuate, Kernel, Push};
pub use crate::agents::{Advance, Disturbance, Swarm};
pub use crate::limit::{Crowd, CrowdSettings, EachLimit, Limit};
pub use crate::place::{CellCentres, Place};
pub use crate::sense::{Features, Observation, Sense, Sight, Visible, Window};
