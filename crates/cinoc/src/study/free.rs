//! Instances left alone, which every policy of a study is compared with.

use crate::evaluate::{Request, Scores, scores};
use crate::policy::Idle;
use crate::threads::Threads;
use crate::{Config, Error, Problem};
use cinoc_tape::Params;
use std::sync::{Arc, Mutex, PoisonError};
use toml::Table;

/// Sections of the settings that an instance left alone does not depend on.
const WITHOUT_EFFECT: [&str; 3] = ["policy", "observe", "train"];

/// Scores of instances left alone: the same for all policies of a case, so they are computed once.
#[derive(Default)]
pub struct Free(Mutex<Vec<(Table, Request, Arc<Scores>)>>);

impl Free {
    /// The scores of some instances of a problem without anybody acting.
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
        let nobody = Idle { action_width: problem.swarm.action_width() };
        let found = Arc::new(scores(problem, &nobody, &Params::default(), request, threads)?);
        all.push((settings, request.clone(), found.clone()));
        Ok(found)
    }
}
