//! Several channels of agents.

use super::Actuate;
use cinoc_tape::Var;

/// Several channels: component `c` of an action is that of channel `c`. Their forces follow one another,
/// `[batch, channels·nodes]`.
pub struct Channels(pub Vec<Box<dyn Actuate>>);

impl Actuate for Channels {
    fn force<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        let each = self.0.iter().enumerate().map(|(c, channel)| {
            let force = channel.force(action.columns(c, c + 1), xi);
            let batch = force.shape().sizes()[0];
            force.reshape([batch, force.shape().count() / batch])
        });
        each.reduce(|all, one| all.join(one)).expect("one channel or more")
    }
}
