//! What agents are held to.

mod crowd;
mod safety;
mod saturate;
mod saturate_length;

pub use crowd::Crowd;
pub use safety::Safety;
pub use saturate::Saturate;
pub use saturate_length::SaturateLength;
