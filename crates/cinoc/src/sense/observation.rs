//! What a policy is shown.

use super::{Features, LinearView};
use cinoc_tape::op::Activation;
use cinoc_tape::{Layer, Var};

/// What the policy is shown: what agents see of the field, and features of their places.
#[derive(Clone, Copy)]
pub struct Observation<'t> {
    view: View<'t>,
    position: Var<'t>,
    signal: Option<Var<'t>>,
}

/// What agents see of the field.
#[derive(Clone, Copy)]
enum View<'t> {
    /// The field around each agent, `[batch, agents, features]`.
    Each(Var<'t>),
    /// The same, not yet computed.
    Linear(LinearView<'t>),
    /// One view that all agents of an instance share, `[batch, features]`.
    Shared(Var<'t>),
}

impl<'t> Observation<'t> {
    /// Each agent sees its own patch, `[batch, agents, features]`; so are features of its position.
    pub fn new(patch: Var<'t>, position: Var<'t>) -> Self {
        Self { view: View::Each(patch), position, signal: None }
    }

    /// All agents of an instance see the same, `[batch, features]`.
    pub fn shared(seen: Var<'t>, position: Var<'t>) -> Self {
        Self { view: View::Shared(seen), position, signal: None }
    }

    /// Each agent sees its own patch, which need not be computed if only a layer on it is asked for.
    pub fn linear(view: LinearView<'t>, position: Var<'t>) -> Self {
        Self { view: View::Linear(view), position, signal: None }
    }

    /// What agents were shown, put together again from its numbers: what they see, of each or of all of an instance as `features` say, and the
    /// features of their positions.
    pub fn again(features: &Features, seen: Var<'t>, position: Var<'t>) -> Self {
        let &Features { signal, signal_from, .. } = features;
        let signal = (signal > 0).then(|| position.columns(signal_from, signal_from + signal));
        let shown = if features.shared { Self::shared(seen, position) } else { Self::new(seen, position) };
        shown.with_signal(signal)
    }

    /// What an agent is shown whose bare instruments ([`Instrument::bare`](super::Instrument::bare)) read this.
    pub fn bare(features: &Features, readings: &[Var<'t>]) -> Self {
        // Who is alone in an instance shares its view with nobody.
        let seen = if features.shared { readings[0].reshape([1, features.patch.count()]) } else { readings[0] };
        Self::again(features, seen, readings[1])
    }

    /// What is seen, as numbers: of each agent, or of all of an instance where they share it.
    pub fn patch(&self) -> Var<'t> {
        match self.view {
            View::Each(patch) | View::Shared(patch) => patch,
            View::Linear(view) => view.patch(),
        }
    }

    /// A layer on what is seen.
    pub fn dense(&self, layer: Layer<'t>, activation: Activation) -> Var<'t> {
        match self.view {
            View::Each(patch) | View::Shared(patch) => patch.dense(layer, activation),
            View::Linear(view) => view.dense(layer, activation),
        }
    }

    /// What was computed from the view, for each agent: repeated where all of an instance share one, so that a network looks at it once per
    /// instance, not once per agent.
    pub fn each_agent(&self, seen: Var<'t>) -> Var<'t> {
        match self.view {
            View::Shared(_) => seen.repeat_rows(self.position.shape().sizes()[1]),
            _ => seen,
        }
    }

    /// The same, with numbers of each agent, `[batch, agents, n]`, that its answer may be proportional to, as to the field.
    pub fn with_signal(self, signal: Option<Var<'t>>) -> Self {
        Self { signal, ..self }
    }

    /// What else an agent's answer may be proportional to; part of the features of its position too.
    pub fn signal(&self) -> Option<Var<'t>> {
        self.signal
    }

    /// Features of each agent's position and of what else it knows, `[batch, agents, features]`.
    pub fn position(&self) -> Var<'t> {
        self.position
    }
}
