//! Errors of the library in the words of the command line: names of flags instead of names of arguments.

use crate::out::program;
use cinoc::Error;

/// Arguments of the library that have a flag.
const FLAGS: [(&str, &str); 4] = [("threads", "--threads"), ("goal", "--for"), ("horizon", "--horizon"), ("set", "--set")];

/// Says what to do about an error of the library.
pub fn advice(error: &Error) -> String {
    match error {
        Error::Checkpoint { .. } => "start a new run in another --out".into(),
        Error::NoModel { .. } => "continue it with --resume, or give its last.safetensors".into(),
        Error::RunExists { .. } => "add --resume to continue it, or choose another --out".into(),
        Error::NoRun { .. } => "choose another --out".into(),
        Error::Busy { .. } => "wait until it ends, or choose another --out".into(),
        Error::NothingToResume { .. } => "leave out --resume to start a new run".into(),
        Error::ResumeOther { .. } => "leave that out to continue the run as it is, or start a new one in another --out".into(),
        Error::ResumeWay { .. } => "leave that out to continue the run as it is".into(),
        Error::NotFinite { .. } => {
            "resume from it with smaller steps (--resume with a lower train.rate or train.clip), or start a new run with finer \
             physics or lower actuator limits"
                .into()
        }
        Error::Model { .. } => format!("give a .safetensors file that `{} train` wrote, or a run folder", program()),
        Error::UnknownKey { .. } => format!("{} (`{} list PROBLEM` explains all)", error.remedy(), program()),
        other => other.remedy(),
    }
}

/// An error of the library as a sentence.
pub fn sentence(error: &Error) -> String {
    if let Error::BadValue { key, value, expected } = error
        && let Some((_, flag)) = FLAGS.iter().find(|(name, _)| name == key)
    {
        return format!("{flag} cannot be {value}; it must be {expected}");
    }
    error.advised(&advice(error))
}

/// Any error as a sentence: its causes up to the first one of the library, which names its own.
pub fn told(error: &anyhow::Error) -> String {
    let mut parts = Vec::new();
    for cause in error.chain() {
        if let Some(error) = cause.downcast_ref::<Error>() {
            parts.push(sentence(error));
            break;
        }
        parts.push(cause.to_string());
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;
    use std::io;

    #[test]
    fn flags_are_named_and_causes_once() {
        let cases = [
            (
                Error::RunExists { path: "runs/a".into() },
                "runs/a already holds a run; add --resume to continue it, or choose another --out",
            ),
            (Error::bad("threads", "9999", "fewer"), "--threads cannot be 9999; it must be fewer"),
            (Error::bad("train.updates", "x", "a whole number"), "train.updates cannot be x; it must be a whole number"),
        ];
        for (error, expected) in cases {
            assert_eq!(told(&error.into()), expected);
        }
        let missing = Err::<(), _>(Error::file("a")(io::Error::new(io::ErrorKind::NotFound, "gone")));
        let error = missing.context("the page").unwrap_err();
        assert_eq!(told(&error), "the page: a: gone; check that it exists and can be read and written");
    }
}
