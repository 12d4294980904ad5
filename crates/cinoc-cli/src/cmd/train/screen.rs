//! Progress of a training run, validations included.

use crate::cmd::short;
use crate::progress::Meter;
use cinoc::train::{Progress, Trainer, training_ticks};

/// Work of an update relative to the same ticks without a gradient.
const GRADIENT: f64 = 3.0;

/// Updates done, their cost, and the validation scores.
pub struct TrainScreen {
    meter: Meter,
    plan: Plan,
    validation: Option<f64>,
    text: String,
}

/// The work of a run.
struct Plan {
    updates: usize,
    /// Updates from one validation to the next.
    every: usize,
    /// Work of an update and of a validation, in instances × ticks.
    work: [f64; 2],
}

impl Plan {
    fn of(trainer: &Trainer) -> Self {
        let train = &trainer.train;
        let update = GRADIENT * (train.batch * training_ticks(&trainer.problem, train)) as f64;
        let cases = train.validate_agents.len().max(1) + usize::from(train.validate_fail > 0.0);
        let validation = (cases * train.validate_instances * trainer.problem.ticks) as f64;
        Self { updates: train.updates, every: train.validate_every.max(1), work: [update, validation] }
    }

    /// True if a validation follows the update.
    fn validates(&self, update: usize) -> bool {
        update.is_multiple_of(self.every) || update == self.updates
    }

    /// The share of all work that is done after an update and its validation.
    fn share(&self, update: usize) -> f64 {
        let done = |update: usize| {
            let validations = update / self.every + usize::from(update == self.updates && !update.is_multiple_of(self.every));
            self.work[0] * update as f64 + self.work[1] * validations as f64
        };
        if self.updates == 0 { 1.0 } else { done(update) / done(self.updates) }
    }
}

impl TrainScreen {
    /// For a run of which some updates may be done.
    pub fn new(trainer: &Trainer) -> Self {
        let plan = Plan::of(trainer);
        let text = format!("{}/{} updates", trainer.update, plan.updates);
        Self { meter: Meter::new(plan.share(trainer.update), &text), plan, validation: None, text }
    }

    /// Announces an update that is followed by a validation.
    pub fn begin(&self, trainer: &Trainer) {
        if self.plan.validates(trainer.update + 1) {
            let instances = trainer.train.validate_instances;
            self.meter.tell(format!("{}  (then validation on {instances} instances)", self.text));
        }
    }

    /// Shows an update.
    pub fn show(&mut self, progress: &Progress, best: Option<f64>) {
        let Plan { updates, .. } = self.plan;
        self.validation = progress.validation.or(self.validation);
        let negative = if progress.cost < 0.0 { " (negative: it contains a logarithm of the error)" } else { "" };
        self.text = format!("{}/{updates} updates  cost {}{negative}", progress.update, short(progress.cost));
        if let (Some(last), Some(best)) = (self.validation, best) {
            self.text += &format!("  validation score {} (best {})", short(last), short(best));
        }
        self.meter.set(self.plan.share(progress.update));
        self.meter.tell(self.text.clone());
        if progress.update == updates {
            self.meter.line();
        }
    }

    /// Leaves the bar as it is.
    pub fn end(&self) {
        self.meter.keep();
    }
}

#[cfg(test)]
mod tests {
    use super::Plan;

    /// The bar once said 4 of 5 while half of the work, the validation, was to come.
    #[test]
    fn validations_are_part_of_the_work() {
        let plan = Plan { updates: 5, every: 100, work: [3.0, 15.0] };
        assert_eq!((plan.share(0), plan.share(4), plan.share(5)), (0.0, 0.4, 1.0));
        assert_eq!([1, 4, 5].map(|update| plan.validates(update)), [false, false, true]);
        let plan = Plan { updates: 4, every: 2, work: [1.0, 2.0] };
        assert_eq!([1, 2, 3, 4].map(|update| plan.share(update)), [0.125, 0.5, 0.625, 1.0]);
    }
}
