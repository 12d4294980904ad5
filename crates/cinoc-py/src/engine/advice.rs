//! Errors of the engine in the words of Python: names of arguments.

use super::cinoc::Error;

/// Says what to do about an error of the engine.
fn advice(error: &Error) -> String {
    match error {
        Error::ForeignModel { known, .. } => {
            format!("open it with the program that defines this problem; this package has: {}", known.join(", "))
        }
        Error::Checkpoint { .. } => "start a new run in another out".into(),
        Error::NoModel { .. } => "continue it with resume=True, or give its last.safetensors".into(),
        Error::RunExists { .. } => "add resume=True to continue it, or choose another out".into(),
        Error::NoRun { .. } => "choose another out".into(),
        Error::Busy { .. } => "wait until it ends, or choose another out".into(),
        Error::NothingToResume { .. } => "leave out resume=True to start a new run".into(),
        Error::ResumeOther { .. } => "leave that out to continue the run as it is, or start a new one in another out".into(),
        Error::ResumeWay { .. } => "leave that out to continue the run as it is".into(),
        Error::NotFinite { .. } => {
            "continue from it with smaller steps (resume=True with a lower train.rate or train.clip), or start a new run with finer \
             physics or lower actuator limits"
                .into()
        }
        Error::Model { .. } => "give a .safetensors file that cinoc.train or policy.save wrote, or a run folder".into(),
        Error::UnknownKey { .. } => format!("{} (`print(problem.config)` shows all)", error.remedy()),
        other => other.remedy(),
    }
}

/// An error of the engine as a sentence.
pub fn sentence(error: &Error) -> String {
    error.advised(&advice(error))
}
