//! Positions shared by all instances.

use cinoc_tape::Var;

/// Returns positions on a line, reduced to those of one instance if they are loop-invariant and equal in all instances.
/// Results that depend on them are then computed once for all instances and ticks.
pub fn shared_positions(xi: Var<'_>) -> Var<'_> {
    let &[batch, agents, _] = xi.shape().sizes() else { panic!("positions {:?}", xi.shape()) };
    let alike = xi.is_loop_invariant() && xi.read(|xi| xi.chunks_exact(agents).all(|instance| instance == &xi[..agents]));
    if alike { xi.reshape([batch * agents]).columns(0, agents).reshape([1, agents, 1]) } else { xi }
}
