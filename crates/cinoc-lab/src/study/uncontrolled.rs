//! Uncontrolled scores, which every policy of a study is compared with.

use cinoc::evaluate::{Request, Scores, scores};
use cinoc::internal::threads::Threads;
use cinoc::policy::ZeroControl;
use cinoc::{Config, Error, Problem};
use cinoc_tape::Params;
use std::sync::{Arc, Mutex, PoisonError};
use toml::Table;

/// Sections of the settings that an uncontrolled instance does not depend on.
const WITHOUT_EFFECT: [&str; 3] = ["policy", "observe", "train"];

/// Uncontrolled scores: equal for all policies of a case, so they are computed once.
#[derive(Default)]
pub struct UncontrolledScores(Mutex<Vec<(Table, Request, Arc<Scores>)>>);

impl UncontrolledScores {
    /// Returns the uncontrolled scores of some instances of a problem.
    pub fn of(
        &self,
        config: &Config,
        problem: &Arc<Problem>,
        request: &Request,
        threads: &Threads,
    ) -> Result<Arc<Scores>, Error> {
        let mut settings = config.tree().clone();
        settings.retain(|section, _| !WITHOUT_EFFECT.contains(&section));
        settings.insert("problem".into(), config.problem().into());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., known)) = all.iter().find(|(tree, asked, _)| *tree == settings && asked == request) {
            return Ok(known.clone());
        }
        let zero_control = ZeroControl { action_width: problem.swarm.action_width() };
        let found = Arc::new(scores(problem, &zero_control, &Params::default(), request, threads)?);
        all.push((settings, request.clone(), found.clone()));
        Ok(found)
    }
}
