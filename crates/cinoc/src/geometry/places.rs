//! Places that do not change.

use cinoc_tape::Var;

/// Positions on a line as they are or, where all instances have their agents at the same places and these are loop-invariant, those of one
/// instance: what follows from them is then computed once for all instances and ticks.
pub fn places(xi: Var<'_>) -> Var<'_> {
    let &[batch, agents, _] = xi.shape().sizes() else { panic!("positions {:?}", xi.shape()) };
    let alike = xi.is_loop_invariant() && xi.read(|xi| xi.chunks_exact(agents).all(|instance| instance == &xi[..agents]));
    if alike { xi.reshape([batch * agents]).columns(0, agents).reshape([1, agents, 1]) } else { xi }
}
