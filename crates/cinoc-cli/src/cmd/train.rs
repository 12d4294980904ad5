//! `cinoc train`

use super::{Settings, data, short};
use anyhow::{Result, bail};
use cinoc::run::Run;
use cinoc::task::Use;
use cinoc::train::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Arguments of `cinoc train`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    settings: Settings,
    /// Seed of everything random: initial weights, training and validation instances.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder of the run; made if missing. Default: runs/PROBLEM-SEED.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Continue the run in --out from its last checkpoint; it gives the same bits as if it had never stopped.
    #[arg(long)]
    resume: bool,
    /// Threads to use; 0 takes all cores. The result does not depend on it.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Print one JSON line at the end.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let config = self.settings.config()?;
        let folder = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("runs/{}-{}", config.problem, self.seed)));
        let mut run = if self.resume {
            let run = Run::resume(&folder, self.threads)?;
            if run.trainer.problem.config != config && !self.settings.set.is_empty() {
                bail!("a resumed run keeps its settings; leave out --set, or start anew in another --out");
            }
            run
        } else {
            Run::start(&folder, config, self.seed, self.threads)?
        };
        data::prepare(&run.trainer.problem, &[Use::Training, Use::Validation]);
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        // Ctrl-C asks for a stop after the update at hand; a second one is for the impatient.
        ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        })?;
        let started = Instant::now();
        let mut screen = Screen::new(run.trainer.problem.config.train.updates, run.trainer.update);
        while !run.trainer.finished() {
            if stop.load(Ordering::Relaxed) {
                run.save()?;
                screen.end();
                eprintln!(
                    "Stopped and saved after {} updates. Continue with --resume --out {}",
                    run.trainer.update,
                    folder.display()
                );
                return Ok(());
            }
            let progress = run.step()?;
            screen.show(&progress, run.trainer.best.as_ref().map(|b| b.score));
        }
        screen.end();
        let model = run.model();
        model.write(&folder.join("model.safetensors"))?;
        let seconds = started.elapsed().as_secs_f64();
        let best = model.validation.unwrap_or(f64::NAN);
        if self.json {
            let line = serde_json::json!({
                "problem": model.config.problem, "seed": model.seed, "updates": run.trainer.update, "best_update": model.update,
                "validation": best, "seconds": seconds, "run": folder, "model": folder.join("model.safetensors"),
            });
            println!("{line}");
        } else {
            println!(
                "Best validation score {} after {} of {} updates, {seconds:.0} s.",
                short(best),
                model.update,
                run.trainer.update
            );
            println!("Score it on held-out instances:  cinoc eval {}", folder.display());
            println!("Look at it:                      cinoc show {} -o episode.png", folder.display());
        }
        Ok(())
    }
}

/// A progress bar on a terminal, a line now and then elsewhere.
struct Screen {
    bar: Option<ProgressBar>,
    updates: usize,
    first: usize,
    started: Instant,
    last_line: Instant,
    validation: Option<f64>,
}

impl Screen {
    fn new(updates: usize, done: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} updates  {msg}  {elapsed} gone, {eta} to go")
                .expect("a valid template")
                .progress_chars("━━╌");
            let bar = ProgressBar::new(updates as u64).with_style(style).with_position(done as u64);
            bar.reset_eta();
            bar
        });
        let now = Instant::now();
        Self { bar, updates, first: done, started: now, last_line: now, validation: None }
    }

    fn show(&mut self, progress: &Progress, best: Option<f64>) {
        self.validation = progress.validation.or(self.validation);
        let mut text = format!("cost {}", short(progress.cost));
        if let (Some(last), Some(best)) = (self.validation, best) {
            text += &format!("  validation {} (best {})", short(last), short(best));
        }
        match &self.bar {
            Some(bar) => {
                bar.set_position(progress.update as u64);
                bar.set_message(text);
            }
            None => {
                let done = progress.update == self.updates;
                if self.last_line.elapsed() > Duration::from_secs(5) || done {
                    self.last_line = Instant::now();
                    let each = self.started.elapsed().as_secs_f64() / (progress.update - self.first) as f64;
                    let eta = each * (self.updates - progress.update) as f64;
                    eprintln!("{}/{} updates  {text}  {eta:.0} s to go", progress.update, self.updates);
                }
            }
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}
