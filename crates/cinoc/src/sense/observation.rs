//! Observations: the inputs of a policy.

use super::{Features, LinearView};
use cinoc_tape::op::Activation;
use cinoc_tape::{Layer, Var};

/// Input of a policy: a view of the field and features of the positions.
#[derive(Clone, Copy)]
pub struct Observation<'t> {
    view: View<'t>,
    position: Var<'t>,
    signal: Option<Var<'t>>,
    roughness: Option<Var<'t>>,
}

/// View of the field.
#[derive(Clone, Copy)]
enum View<'t> {
    /// Patch of the field around each agent, `[batch, agents, features]`.
    Each(Var<'t>),
    /// Patch of the field around each agent, not yet computed.
    Linear(LinearView<'t>),
    /// One patch shared by all agents of an instance, `[batch, features]`.
    Shared(Var<'t>),
}

impl<'t> Observation<'t> {
    /// Creates an observation with one patch per agent; patch and position features are `[batch, agents, features]`.
    pub fn new(patch: Var<'t>, position: Var<'t>) -> Self {
        Self { view: View::Each(patch), position, signal: None, roughness: None }
    }

    /// Creates an observation with one patch shared by all agents of an instance, `[batch, features]`.
    #[doc(hidden)]
    pub fn shared(seen: Var<'t>, position: Var<'t>) -> Self {
        Self { view: View::Shared(seen), position, signal: None, roughness: None }
    }

    /// Creates an observation with one patch per agent, which is not computed if only a layer on it is needed.
    #[doc(hidden)]
    pub fn linear(view: LinearView<'t>, position: Var<'t>) -> Self {
        Self { view: View::Linear(view), position, signal: None, roughness: None }
    }

    /// Creates an observation from its values: the patch, per agent or shared as `features` tell, and the position
    /// features.
    #[doc(hidden)]
    pub fn from_parts(features: &Features, seen: Var<'t>, position: Var<'t>) -> Self {
        let &Features { signal, signal_from, position: count, roughness, .. } = features;
        let signal = (signal > 0).then(|| position.columns(signal_from, signal_from + signal));
        let shown = if features.shared { Self::shared(seen, position) } else { Self::new(seen, position) };
        let roughness = roughness.then(|| position.columns(count - 1, count));
        Self { roughness, ..shown.with_signal(signal) }
    }

    /// Creates the observation of agents from readings of bare instruments
    /// ([`Instrument::bare`](super::Instrument::bare)).
    #[doc(hidden)]
    pub fn bare(features: &Features, readings: &[Var<'t>]) -> Self {
        // A single agent has the shared patch to itself.
        let seen = if features.shared { readings[0].reshape([1, features.patch.count()]) } else { readings[0] };
        Self::from_parts(features, seen, readings[1])
    }

    /// Adds noise to the patch, in its layout.
    #[doc(hidden)]
    pub fn disturbed(self, noise: Var<'t>) -> Self {
        self.with_patch(self.patch() + noise)
    }

    /// Replaces the patch.
    #[doc(hidden)]
    pub fn with_patch(self, patch: Var<'t>) -> Self {
        let view = if let View::Shared(_) = self.view { View::Shared(patch) } else { View::Each(patch) };
        Self { view, ..self }
    }

    /// Adds the roughness of the samples, `[batch, agents, 1]`, also as the last position feature.
    #[doc(hidden)]
    pub fn with_roughness(self, roughness: Var<'t>) -> Self {
        let roughness = self.each_agent(roughness);
        Self { roughness: Some(roughness), position: self.position.join(roughness), ..self }
    }

    /// Roughness of the samples, if sensed.
    #[doc(hidden)]
    pub fn roughness(&self) -> Option<Var<'t>> {
        self.roughness
    }

    /// The patch, per agent or shared by all agents of an instance.
    pub fn patch(&self) -> Var<'t> {
        match self.view {
            View::Each(patch) | View::Shared(patch) => patch,
            View::Linear(view) => view.patch(),
        }
    }

    /// Applies a layer to the patch.
    #[doc(hidden)]
    pub fn dense(&self, layer: Layer<'t>, activation: Activation) -> Var<'t> {
        match self.view {
            View::Each(patch) | View::Shared(patch) => patch.dense(layer, activation),
            View::Linear(view) => view.dense(layer, activation),
        }
    }

    /// Expands values computed from the patch to one row per agent. They are repeated if agents share a patch, so that
    /// a network evaluates it once per instance, not once per agent.
    #[doc(hidden)]
    pub fn each_agent(&self, seen: Var<'t>) -> Var<'t> {
        match self.view {
            View::Shared(_) => seen.repeat_rows(self.position.shape().sizes()[1]),
            _ => seen,
        }
    }

    /// Sets values per agent, `[batch, agents, n]`, that the policy output may be proportional to, as to the field.
    #[doc(hidden)]
    pub fn with_signal(self, signal: Option<Var<'t>>) -> Self {
        Self { signal, ..self }
    }

    /// Adds values per agent, `[batch, agents, n]`, as the last position features and as the signal.
    #[cfg(feature = "files")]
    pub(crate) fn with_known(self, known: Var<'t>) -> Self {
        Self { position: self.position.join(known), signal: Some(known), ..self }
    }

    /// Values that the policy output may be proportional to; also part of the position features.
    #[doc(hidden)]
    pub fn signal(&self) -> Option<Var<'t>> {
        self.signal
    }

    /// Features of each agent's position and other known quantities, `[batch, agents, features]`.
    pub fn position(&self) -> Var<'t> {
        self.position
    }
}
