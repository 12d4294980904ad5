//! Views of immobile agents in two steps: the nodes around each agent, and a linear map from them to its patch.

use super::Observe1d;
use crate::Real;
use crate::geometry::shared_positions;
use cinoc_tape::op::Activation;
use cinoc_tape::{Cotangents, Inputs, Layer, Op, Shape, Var};
use std::ops::Range;
use std::sync::Arc;

/// A patch that is linear in the field: `patch = nodes·factors`, where the factors depend on an agent's position alone.
///
/// The first layer of a network then need not compute the patch: `nodes·(factors·w)` is equal, and the product in
/// brackets is loop-invariant. A window of four cells has forty samples that depend on nine nodes.
#[derive(Clone, Copy)]
pub struct LinearView<'t> {
    /// The error at the nodes around each agent, `[batch, agents, span]`.
    pub nodes: Var<'t>,
    /// Linear maps, `[positions·span, patch size]`; agent i of any instance has the position i modulo their number.
    pub factors: Var<'t>,
}

impl<'t> LinearView<'t> {
    /// Computes the patch.
    pub fn patch(&self) -> Var<'t> {
        let nothing = self.nodes.tape().zeros([self.factors.shape().last()]);
        self.nodes.local_dense(self.factors, nothing, Activation::Linear)
    }

    /// Applies a layer to the patch.
    pub fn dense(&self, layer: Layer<'t>, activation: Activation) -> Var<'t> {
        self.nodes.local_dense(self.factors.matmul(layer.w), layer.b, activation)
    }
}

/// Operations behind a [`LinearView`] of a ring.
pub struct RingView {
    nodes: Arc<Nodes>,
    factors: Arc<Factors>,
}

impl RingView {
    /// Creates the operations for the patches of `observe`.
    pub fn new(observe: &Arc<Observe1d>) -> Self {
        Self { nodes: Arc::new(Nodes(observe.clone())), factors: Arc::new(Factors(observe.clone())) }
    }

    /// Returns true for a ring around which a window extends at most once.
    pub fn fits(&self) -> bool {
        self.nodes.0.periodic() && self.nodes.0.span() <= self.nodes.0.nodes()
    }

    /// Returns the view of agents at `xi`, which must be loop-invariant.
    pub fn observe<'t>(&self, z: Var<'t>, target: Var<'t>, xi: Var<'t>) -> LinearView<'t> {
        LinearView { nodes: z.tape().record(&self.nodes, [z, target, xi]), factors: shared_positions(xi).apply(&self.factors) }
    }
}

/// Error `z − z*` at the nodes around each agent. Inputs: `z`, `z*`, both `[batch, N]`, and `ξ [batch, agents, 1]`;
/// output `[batch, agents, span]`.
struct Nodes(Arc<Observe1d>);

impl Nodes {
    /// Calls `f` with pairs of ranges, in the output and in the nodes of the batch; two pairs if a window wraps around
    /// the ring.
    fn each(&self, x: &Inputs, mut f: impl FnMut(Range<usize>, Range<usize>)) {
        let (count, span, agents) = (self.0.nodes(), self.0.span(), x.shape(2).sizes()[1]);
        for (b, xi) in x[2].chunks_exact(agents).enumerate() {
            for (m, &xi) in xi.iter().enumerate() {
                let (at, first) = ((b * agents + m) * span, self.0.first_around(xi));
                let before = span.min(count - first);
                f(at..at + before, b * count + first..b * count + first + before);
                if before < span {
                    f(at + before..at + span, b * count..b * count + span - before);
                }
            }
        }
    }
}

impl Op for Nodes {
    fn name(&self) -> &'static str {
        "observe"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        assert!(
            x[0].sizes() == [x[2].sizes()[0], self.0.nodes()] && x[1] == x[0],
            "observe: field {:?}, target {:?}",
            x[0],
            x[1]
        );
        x[2].with_last(self.0.span())
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        self.each(x, |around, nodes| {
            let (z, target) = (&x[0][nodes.clone()], &x[1][nodes]);
            y[around].iter_mut().zip(z).zip(target).for_each(|((y, z), target)| *y = z - target);
        });
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        if let Some(z_bar) = bars.get(0) {
            self.each(x, |around, nodes| z_bar[nodes].iter_mut().zip(&y_bar[around]).for_each(|(z_bar, y_bar)| *z_bar += y_bar));
        }
        if let Some(target_bar) = bars.get(1) {
            self.each(x, |around, nodes| target_bar[nodes].iter_mut().zip(&y_bar[around]).for_each(|(bar, y_bar)| *bar -= y_bar));
        }
    }
}

/// Linear maps from the nodes around agents to their patches. Input: `ξ [1 or batch, agents, 1]`; output
/// `[positions·span, 2n]`.
struct Factors(Arc<Observe1d>);

impl Op for Factors {
    fn name(&self) -> &'static str {
        "factors"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        Shape::new(&[x[0].count() * self.0.span(), self.0.seen()])
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        let size = self.0.span() * self.0.seen();
        y.chunks_exact_mut(size).zip(&x[0]).for_each(|(factors, xi)| self.0.factors(*xi, factors));
    }

    fn vjp(&self, _: &Inputs, _: &[Real], _: &[Real], _: &[Real], bars: &mut Cotangents, _: &mut [Real]) {
        assert!(!bars.wanted(0), "factors: mobile agents must observe in one step");
    }
}
