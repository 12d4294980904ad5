//! Fused operation for all substeps of a tick.

use super::nonlinear::Nonlinear;
use super::plan::Plan;
use super::substeps::Substeps;
use crate::Real;
use crate::calculus::add;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};

/// Maximum number of states saved per tick; the backward pass recomputes those in between.
const MAX_SLOTS: usize = 32;

/// Maximum if the number of substeps is chosen in every tick: all stages of four substeps.
const MAX_SLOTS_CHOSEN: usize = 16;

/// Length of the header before the saved states, a full cache line for alignment: the chosen plan (see [`Choice`]),
/// then padding.
const HEADER: usize = 16;

/// Index of the plan that a tick used, for the backward pass; none if it diverged.
///
/// An operation saves [`Real`]s only. As one, the index is exact: there are at most
/// [`MAX_SUBSTEPS`](super::substeps::MAX_SUBSTEPS) plans.
#[derive(Clone, Copy)]
struct Choice(Option<usize>);

impl Choice {
    const NONE: Real = -1.0;

    fn save(self, header: &mut [Real]) {
        header[0] = self.0.map_or(Self::NONE, |index| index as Real);
    }

    fn load(header: &[Real]) -> Self {
        Self((header[0] != Self::NONE).then_some(header[0] as usize))
    }
}

/// A tick under a constant force. Inputs: field and force, `[batch, nodes...]`.
///
/// The state stays in Fourier space for all substeps. The forward pass saves it at the start of each substep (nothing
/// for a single substep with a single stage) and, if slots suffice, at each stage; the backward pass recomputes the
/// others.
pub(super) struct FusedStep {
    pub nonlinear: Box<dyn Nonlinear>,
    /// Plans for the possible numbers of substeps, fewest first.
    pub plans: Vec<Plan<Vec<Real>>>,
    pub substeps: Substeps,
    pub tick: f64,
}

/// Working space by purpose.
pub(super) struct Workspace<'a> {
    pub f_hat: &'a mut [Real],
    pub z: &'a mut [Real],
    pub next: &'a mut [Real],
    pub rates: &'a mut [Real],
    pub kept: &'a mut [Real],
    pub work: &'a mut [Real],
    /// For the backward pass only: cotangents of the stages, of the force, and states between the saved ones.
    pub stage_bars: &'a mut [Real],
    pub f_bar: &'a mut [Real],
    pub between: &'a mut [Real],
}

impl FusedStep {
    pub fn size(&self) -> usize {
        self.nonlinear.layout().size()
    }

    pub fn stages(&self) -> usize {
        self.plans[0].lines.len()
    }

    /// Count of numbers stored by a recorded step, per field and once per batch.
    pub fn recording_size(&self) -> [usize; 2] {
        [(2 + self.slots()) * self.size() / self.nonlinear.layout().group(), self.scratch(&[])]
    }

    fn max_substeps(&self) -> usize {
        self.plans.last().expect("a plan").substeps
    }

    /// Returns true if a tick is a single stage whose values are the field: nothing needs to be saved.
    fn single(&self) -> bool {
        self.max_substeps() == 1 && self.stages() == 1 && self.nonlinear.keeps_fields()
    }

    fn slots(&self) -> usize {
        if self.single() {
            return 0;
        }
        let most = if self.plans.len() > 1 { MAX_SLOTS_CHOSEN } else { MAX_SLOTS };
        most.min(self.max_substeps())
    }

    /// Substeps from one saved state to the next.
    fn every(&self, substeps: usize) -> usize {
        substeps.div_ceil(self.slots().max(1))
    }

    /// Returns true if the slots suffice for the state of every stage, as with few substeps.
    fn keeps_stages(&self, substeps: usize) -> bool {
        substeps * self.stages() <= self.slots()
    }

    /// Length of a field, and count of numbers saved per group of fields.
    fn sizes(&self, x: &Shape) -> (usize, usize) {
        (x.count() / x.sizes()[0], HEADER + self.slots() * self.size())
    }

    fn workspace<'a>(&self, mut scratch: &'a mut [Real]) -> Workspace<'a> {
        let mut take = |count: usize| {
            let (part, rest) = std::mem::take(&mut scratch).split_at_mut(count);
            scratch = rest;
            part
        };
        let (size, stages) = (self.size(), self.stages());
        Workspace {
            f_hat: take(size),
            z: take(size),
            next: take(size),
            rates: take(stages * size),
            kept: take(stages * self.nonlinear.kept()),
            work: take(self.nonlinear.work().max(self.nonlinear.layout().work())),
            stage_bars: take((stages + 1) * size),
            f_bar: take(size),
            between: take(self.every(self.max_substeps()) * size),
        }
    }

    /// Computes the cotangent of the initial state from the states saved at the start of some substeps.
    fn back_from_states(&self, plan: &Plan<Vec<Real>>, states: &[Real], workspace: &mut Workspace) {
        let (size, every) = (self.size(), self.every(plan.substeps));
        for slot in (0..plan.substeps.div_ceil(every)).rev() {
            let between = std::mem::take(&mut workspace.between);
            let count = every.min(plan.substeps - slot * every);
            between[..size].copy_from_slice(&states[slot * size..][..size]);
            for i in 1..count {
                let (z, next) = between[(i - 1) * size..(i + 1) * size].split_at_mut(size);
                let Workspace { f_hat, rates, kept, work, .. } = workspace;
                self.step(plan, z, f_hat, next, rates, kept, work, false, &mut []);
            }
            for i in (0..count).rev() {
                self.step_back(plan, &between[i * size..][..size], workspace);
            }
            workspace.between = between;
        }
    }

    /// Chooses the plan for a tick that starts at this speed; none if even the maximum of substeps is too small.
    fn choose(&self, speed: Real) -> Choice {
        Choice(self.plans.iter().position(|plan| self.substeps.fits(speed, self.tick, plan.substeps)))
    }

    fn plan(&self, choice: Choice) -> Option<&Plan<Vec<Real>>> {
        choice.0.map(|index| &self.plans[index])
    }
}

impl Op for FusedStep {
    fn name(&self) -> &'static str {
        "spectral step"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let layout = self.nonlinear.layout();
        let nodes = x[0].count() / x[0].sizes()[0];
        assert!(x[0] == x[1] && nodes * layout.group() == layout.size(), "spectral step: field {:?}, force {:?}", x[0], x[1]);
        x[0]
    }

    fn saved(&self, x: &[Shape]) -> usize {
        x[0].sizes()[0].div_ceil(self.nonlinear.layout().group()) * self.sizes(&x[0]).1
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        let (size, stages) = (self.size(), self.stages());
        let between = self.every(self.max_substeps());
        (2 * stages + 5 + between) * size
            + stages * self.nonlinear.kept()
            + self.nonlinear.work().max(self.nonlinear.layout().work())
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], saved: &mut [Real], scratch: &mut [Real]) {
        let layout = self.nonlinear.layout();
        let (nodes, keep) = self.sizes(&x.shape(0));
        let (size, group) = (self.size(), nodes * layout.group());
        let Workspace { f_hat, mut z, mut next, rates, kept, work, .. } = self.workspace(scratch);
        for (((y, z_in), f), saved) in
            y.chunks_mut(group).zip(x[0].chunks(group)).zip(x[1].chunks(group)).zip(saved.chunks_exact_mut(keep))
        {
            layout.load(f, f_hat, work);
            self.nonlinear.begin(z_in, z, &mut kept[..self.nonlinear.kept()], work);
            let choice = self.choose(self.nonlinear.speed(kept));
            choice.save(saved);
            let Some(plan) = self.plan(choice) else {
                y.fill(Real::NAN);
                continue;
            };
            self.nonlinear.finish(&kept[..self.nonlinear.kept()], f_hat, &mut rates[..size], work);
            let every = self.every(plan.substeps);
            let (each, saved) = (self.stages() * size, &mut saved[HEADER..]);
            for substep in 0..plan.substeps {
                let mut stages: &mut [Real] = &mut [];
                if self.keeps_stages(plan.substeps) {
                    stages = &mut saved[substep * each..][..each];
                } else if substep.is_multiple_of(every) && !self.single() {
                    stages = &mut saved[substep / every * size..][..size];
                }
                self.step(plan, z, f_hat, next, rates, kept, work, substep == 0, stages);
                std::mem::swap(&mut z, &mut next);
            }
            layout.unload(z, y, work);
        }
    }

    fn vjp(&self, x: &Inputs, _: &[Real], y_bar: &[Real], saved: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let layout = self.nonlinear.layout();
        let (nodes, keep) = self.sizes(&x.shape(0));
        let (size, stages, group) = (self.size(), self.stages(), nodes * layout.group());
        let mut workspace = self.workspace(scratch);
        let fresh = [0, 1].map(|i| bars.slot(i).is_some_and(|(_, fresh)| fresh));
        for (g, (saved, y_bar)) in saved.chunks_exact(keep).zip(y_bar.chunks(group)).enumerate() {
            let part = g * group..g * group + y_bar.len();
            workspace.f_bar.fill(0.0);
            workspace.stage_bars[stages * size..].fill(0.0);
            if self.single() {
                layout.load(y_bar, &mut workspace.stage_bars[stages * size..], workspace.work);
                self.nonlinear.columns(&x[0][part.clone()], workspace.kept, workspace.work);
                self.stages_back(&self.plans[0], &mut workspace);
            } else if let Some(plan) = self.plan(Choice::load(saved)) {
                layout.load(y_bar, &mut workspace.stage_bars[stages * size..], workspace.work);
                let saved = &saved[HEADER..];
                if self.keeps_stages(plan.substeps) {
                    let substeps = saved[..plan.substeps * stages * size].chunks_exact(stages * size);
                    substeps.rev().for_each(|states| self.step_back_from(plan, states, &mut workspace));
                } else {
                    layout.load(&x[1][part.clone()], workspace.f_hat, workspace.work);
                    self.back_from_states(plan, saved, &mut workspace);
                }
            }
            let Workspace { z, next, f_bar, stage_bars, work, .. } = &mut workspace;
            for (i, spectrum) in [&mut stage_bars[stages * size..], f_bar].into_iter().enumerate() {
                let Some((bar, _)) = bars.slot(i) else { continue };
                let bar = &mut bar[part.clone()];
                if fresh[i] {
                    layout.unload(spectrum, bar, work);
                } else {
                    let field = &mut if i == 0 { &mut *z } else { &mut *next }[..bar.len()];
                    layout.unload(spectrum, field, work);
                    add(bar, field);
                }
            }
        }
    }
}
