//! Forward and backward pass of one substep.

use super::fused::{FusedStep, Workspace};
use super::plan::Plan;
use crate::Real;
use crate::calculus::{add, combine};
use cinoc_tape::kernel::parallel;

impl FusedStep {
    /// Computes the next stage (or state) by a line of the scheme.
    fn mix(&self, plan: &Plan<Vec<Real>>, line: usize, z: &[Real], rates: &[Real], next: &mut [Real]) {
        let mix = &plan.lines[line];
        let rates = mix.rates.iter().zip(rates.chunks_exact(self.size()));
        let known = rates.filter_map(|(coefficients, rate)| Some((&coefficients.as_ref()?[..], rate)));
        combine(std::iter::once((&mix.state[..], z)).chain(known), next);
    }

    /// Advances one substep from `z` to `next`. With `begun`, the first rate is known. Copies the states of the stages
    /// that fit into `states`.
    pub fn step(
        &self,
        plan: &Plan<Vec<Real>>,
        z: &[Real],
        f_hat: &[Real],
        next: &mut [Real],
        rates: &mut [Real],
        kept: &mut [Real],
        work: &mut [Real],
        begun: bool,
        states: &mut [Real],
    ) {
        let (size, keep) = (self.size(), self.nonlinear.kept());
        let mut states = states.chunks_exact_mut(size);
        for stage in 0..self.stages() {
            let at: &[Real] = if stage == 0 { z } else { next };
            if let Some(state) = states.next() {
                parallel::copy(at, state);
            }
            if stage > 0 || !begun {
                self.nonlinear.prepare(at, &mut kept[..keep], work);
                self.nonlinear.finish(&kept[..keep], f_hat, &mut rates[stage * size..][..size], work);
            }
            self.mix(plan, stage, z, &rates[..(stage + 1) * size], next);
        }
    }

    /// Computes the cotangent of `z` from that of the state one substep later, both as the last of `stage_bars`.
    pub fn step_back(&self, plan: &Plan<Vec<Real>>, z: &[Real], workspace: &mut Workspace) {
        let (size, keep, stages) = (self.size(), self.nonlinear.kept(), self.stages());
        let Workspace { f_hat, next, rates, kept, work, .. } = workspace;
        for stage in 0..stages {
            let kept = &mut kept[stage * keep..][..keep];
            self.nonlinear.prepare(if stage == 0 { z } else { next }, kept, work);
            if stage + 1 < stages {
                self.nonlinear.finish(kept, f_hat, &mut rates[stage * size..][..size], work);
                self.mix(plan, stage, z, &rates[..(stage + 1) * size], next);
            }
        }
        self.stages_back(plan, workspace);
    }

    /// Computes the cotangent from the states of all stages.
    pub fn step_back_from(&self, plan: &Plan<Vec<Real>>, states: &[Real], workspace: &mut Workspace) {
        let each = workspace.kept.chunks_exact_mut(self.nonlinear.kept());
        for (state, kept) in states.chunks_exact(self.size()).zip(each) {
            self.nonlinear.prepare(state, kept, workspace.work);
        }
        self.stages_back(plan, workspace);
    }

    /// Computes the cotangent from the saved values of the stages.
    pub fn stages_back(&self, plan: &Plan<Vec<Real>>, workspace: &mut Workspace) {
        let (size, keep, stages) = (self.size(), self.nonlinear.kept(), self.stages());
        let Workspace { next, rates, kept, work, stage_bars, f_bar, .. } = workspace;
        let rate_bar = &mut rates[..size];
        for stage in (0..stages).rev() {
            let (this, later) = stage_bars[stage * size..].split_at_mut(size);
            let later = plan.lines[stage..].iter().zip(later.chunks_exact(size));
            combine(later.filter_map(|(mix, bar)| Some((&mix.rates[stage].as_ref()?[..], bar))), rate_bar);
            add(f_bar, rate_bar);
            self.nonlinear.vjp(&kept[stage * keep..][..keep], rate_bar, this, work);
        }
        let (first, later) = stage_bars.split_at_mut(size);
        combine(plan.lines.iter().zip(later.chunks_exact(size)).map(|(mix, bar)| (&mix.state[..], bar)), next);
        add(next, first);
        stage_bars[stages * size..].copy_from_slice(next);
    }
}
