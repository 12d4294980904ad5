//! What agents see.

mod channels2d;
mod compress;
mod directions;
mod linear_view;
mod nearest;
mod observe1d;
mod observe2d;
mod observe_field;
mod position_features;
mod samples;

pub(crate) use linear_view::places;
pub(crate) use samples::add;

pub use compress::Compress;
pub use directions::Directions;
pub use linear_view::{LinearView, RingView};
pub use nearest::Nearest;
pub use observe_field::ObserveField;
pub use observe1d::Observe1d;
pub use observe2d::Observe2d;
pub use position_features::PositionFeatures;
