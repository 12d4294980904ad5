//! `cinoc train`

mod screen;

use super::{PresetName, Settings, data, short, whole};
use crate::advice::sentence;
use crate::out::{note, program, say};
use crate::{ranks, stop};
use anyhow::{Result, anyhow, bail};
use cinoc::internal::random::Split;
use cinoc::internal::shown;
use cinoc::run::{LAST, MODEL, Origin, Run, Saved};
use cinoc::settings::Overlay;
use cinoc::{Config, Error, Registry};
use clap::ValueEnum;
use screen::TrainScreen;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Arguments of `cinoc train`.
#[derive(clap::Args)]
pub struct TrainArgs {
    /// Name of a problem (see `cinoc list`), or a TOML file with a line `problem = "..."` and any settings to change. May be left out
    /// with --resume --out RUN.
    #[arg(value_name = "PROBLEM|FILE.toml", required_unless_present = "resume")]
    problem: Option<PathBuf>,
    /// Change a setting, for example --set train.updates=200. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Settings to start from: the project's recipe (the default), or the paper's.
    #[arg(long, value_enum)]
    preset: Option<PresetName>,
    /// Seed of everything random: initial weights, training and validation instances. Default: 0.
    #[arg(long, value_parser = whole::<u64>)]
    seed: Option<u64>,
    /// Folder of the run; made if missing, and refused if it holds anything else. Default: runs/PROBLEM-SEED.
    #[arg(long, value_name = "RUN")]
    out: Option<PathBuf>,
    /// Continue the run in --out from its last checkpoint; the result is bit-identical to an uninterrupted run. The run keeps its settings,
    /// with two exceptions. --set train.updates=800 extends a run of 500, finished or not; the schedule of the learning rate then follows
    /// the new number. And train.rate, train.rate_start, train.rate_end and train.clip may be lowered, for example after a divergence.
    #[arg(long)]
    resume: bool,
    /// Threads to use; 0 takes all cores, which ranks on the same cores share evenly. The result does not depend on it.
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>)]
    threads: usize,
    /// Print one JSON line at the end.
    #[arg(long)]
    json: bool,
}

/// The user stopped a command; the text says how to continue.
#[derive(Debug)]
pub struct Stopped(pub String);

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stopped {}

impl TrainArgs {
    /// Runs the command.
    pub fn run(self, registry: &Registry) -> Result<()> {
        let mut run = self.open(registry)?;
        run.notices.iter().for_each(|notice| note!("{}: {notice}", program()));
        data::prepare(&run.trainer.problem, &[Split::Training, Split::Validation], run.trainer.seed, run.trainer.ranks())?;
        // From here on a signal stops the run after the current update.
        stop::listen()?;
        let again = format!("{} train {} --resume --out {}", program(), run.config.problem(), quoted(&run.folder));
        let started = Instant::now();
        let mut screen = TrainScreen::new(&run.trainer);
        while !run.trainer.finished() {
            // A signal may have reached some ranks only; all stop after the same update.
            if run.trainer.ranks().any(stop::asked())? {
                run.close()?;
                screen.end();
                return Err(
                    Stopped(format!("Stopped and saved after {} updates. Continue with:  {again}", run.trainer.update)).into()
                );
            }
            screen.begin(&run.trainer);
            let progress = run.step().map_err(|error| advised(error, &run, &again))?;
            screen.show(&progress, run.trainer.best.as_ref().map(|b| b.score));
        }
        screen.end();
        self.report(&run, started.elapsed().as_secs_f64())
    }

    /// The run, started or resumed.
    fn open(&self, registry: &Registry) -> Result<Run> {
        let threads = ranks::threads(self.threads)?;
        if !self.resume {
            let preset = self.preset.unwrap_or(PresetName::Tuned);
            let config = self.settings(preset).config(registry)?;
            let preset = if self.file() { String::new() } else { word(preset) };
            let origin = Origin { config, preset, seed: self.seed.unwrap_or(0) };
            let folder = self.folder(Some(origin.config.problem()))?;
            return Ok(Run::start(registry, &folder, origin, threads)?);
        }
        // A file has all settings of the run it was written for.
        let whole =
            if self.file() { Some(self.settings(self.preset.unwrap_or(PresetName::Tuned)).config(registry)?) } else { None };
        let named = self.problem.as_ref().map(|problem| problem.to_string_lossy());
        let folder = self.folder(whole.as_ref().map(Config::problem).or(named.as_deref()))?;
        let saved = Saved::open(registry, &folder, threads)?;
        let config = match whole {
            Some(config) => config,
            None => self.wanted(registry, &saved, &folder)?,
        };
        let seed = saved.origin.seed.to_string();
        if let Some(asked) = self.seed.map(|seed| seed.to_string()).filter(|asked| *asked != seed) {
            return Err(Error::ResumeOther { path: folder, key: "seed".into(), was: seed, asked }.into());
        }
        Ok(saved.resume(registry, config)?)
    }

    /// The settings to resume a saved run with: those of the run, with the changes of the command line.
    fn wanted(&self, registry: &Registry, saved: &Saved, folder: &Path) -> Result<Config> {
        let Origin { config, preset, .. } = &saved.origin;
        let other = |key: &str, was: &str, asked: String| {
            Err(Error::ResumeOther { path: folder.into(), key: key.into(), was: was.into(), asked }.into())
        };
        if let Some(asked) = self.problem.as_ref().filter(|asked| asked.as_os_str() != config.problem()) {
            return other("problem", config.problem(), shown(asked));
        }
        match self.preset {
            // A run that was started from a file, whose preset is not recorded.
            Some(asked) if preset.is_empty() => {
                return Settings { problem: config.problem().into(), ..self.settings(asked) }.config(registry);
            }
            Some(asked) if word(asked) != *preset => return other("preset", preset, word(asked)),
            _ => {}
        }
        Ok(registry.change(config, &Overlay::from_pairs(&self.set)?)?)
    }

    fn file(&self) -> bool {
        self.problem.as_ref().is_some_and(Registry::is_file)
    }

    fn settings(&self, preset: PresetName) -> Settings {
        Settings { problem: self.problem.clone().unwrap_or_default(), set: self.set.clone(), preset }
    }

    fn folder(&self, problem: Option<&str>) -> Result<PathBuf> {
        match (&self.out, problem) {
            (Some(out), _) => Ok(out.clone()),
            (None, Some(problem)) => Ok(PathBuf::from(format!("runs/{problem}-{}", self.seed.unwrap_or(0)))),
            (None, None) => bail!("there is no telling which run to resume; add --out RUN, or the name of a problem"),
        }
    }

    /// Prints the result.
    fn report(&self, run: &Run, seconds: f64) -> Result<()> {
        let (model, folder) = (run.model(), &run.folder);
        let best = model.validation.unwrap_or(f64::NAN);
        if self.json {
            let path = |path: &Path| path.to_string_lossy().into_owned();
            let line = serde_json::json!({
                "problem": model.config.problem(), "seed": model.seed, "updates": run.trainer.update, "best_update": model.update,
                "validation": best, "seconds": seconds, "run": path(folder), "model": path(&folder.join(MODEL)),
                "last": path(&folder.join(LAST)),
            });
            return say!("{line}");
        }
        let (updates, place) = (run.trainer.update, quoted(folder));
        say!("Best validation score {} after {} of {updates} updates, {seconds:.0} s.", short(best), model.update)?;
        say!("Score it on test instances:  {} eval {place}", program())?;
        say!("Draw an episode:             {} show {place} -o episode.png", program())
    }
}

/// The name of a preset.
fn word(preset: PresetName) -> String {
    preset.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// After a divergence, adds the command that resumes with half the rate.
fn advised(error: Error, run: &Run, again: &str) -> anyhow::Error {
    match error {
        Error::NotFinite { .. } => {
            let half = 0.5 * run.trainer.train.rate;
            anyhow!("{}. For example:  {again} --set train.rate={half}", sentence(&error))
        }
        _ => error.into(),
    }
}

/// A path as a shell takes it; control characters are shown as escapes.
fn quoted(path: &Path) -> String {
    let text = shown(path);
    let text = if text.starts_with('-') { format!("./{text}") } else { text };
    let plain = |c: char| c.is_alphanumeric() || "_-./+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_where_a_shell_needs_it() {
        for (path, text) in [
            ("runs/heat1d-0", "runs/heat1d-0"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("-x", "./-x"),
            ("~/run", "'~/run'"),
            ("a\x1b[31m", r"'a\u{1b}[31m'"),
        ] {
            assert_eq!(quoted(Path::new(path)), text);
        }
    }
}
