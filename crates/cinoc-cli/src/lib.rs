//! The `cinoc` command as a library, for crates that define further problems or policies:
//!
//! ```no_run
//! use cinoc::Registry;
//!
//! fn main() -> std::process::ExitCode {
//!     cinoc_cli::run(Registry::builtin()) // .problem::<Mine>().policy::<MyPolicy>()
//! }
//! ```

mod advice;
mod arrays;
mod cmd;
mod draw;
mod library;
mod out;
mod page;
mod picture;
mod progress;
mod ranks;
mod stop;

/// Readers of files, for the fuzzer. Not a stable interface.
#[doc(hidden)]
pub mod readers {
    pub use crate::arrays::fields;
    pub use crate::cmd::optimum::file::Results;
    pub use crate::cmd::study::table::Table;
}

use anyhow::Result;
use cinoc::Registry;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// Learn controllers for partial differential equations, for swarms of any size.
#[derive(Parser)]
#[command(name = "cinoc", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the problems, or all settings of one.
    List(cmd::list::ListArgs),
    /// Write a first problem file: asks three questions, or takes their answers from flags.
    New(cmd::new::NewArgs),
    /// Train a policy; shows progress, writes a run folder.
    Train(cmd::train::TrainArgs),
    /// Prepare the initial states of a chaotic problem, and describe them.
    Data(cmd::data::DataArgs),
    /// Score a trained policy on test instances, also with other numbers of agents or with failures.
    Eval(cmd::eval::EvalArgs),
    /// Design a linear-quadratic regulator (LQR), a classical baseline: a model like any other.
    Design(cmd::design::DesignArgs),
    /// Search for the best open-loop actions of each instance, to compare a policy with.
    Optimum(cmd::optimum::OptimumArgs),
    /// Run an ablation or parameter study: a table and a figure.
    Study(cmd::study::StudyArgs),
    /// Analyse the linear stability of the closed loop for several numbers of agents.
    Stability(cmd::stability::StabilityArgs),
    /// Draw one controlled episode as PNG, SVG or GIF, or write an interactive page.
    Show(cmd::show::ShowArgs),
    /// Export a trained policy as a C file or an ONNX model, for a controller on one agent.
    Export(cmd::export::ExportArgs),
    /// Check the derivatives of a problem, the growth of its gradient, and the memory of an update.
    Check(cmd::check::CheckArgs),
    /// Time training updates.
    Bench(cmd::bench::BenchArgs),
    /// Time a tick of growing swarms and grids.
    Scale(cmd::scale::ScaleArgs),
    /// Test this installation, in a minute or two.
    Verify(cmd::verify::VerifyArgs),
    /// Print the completions of a shell, for example: cinoc completions bash > ~/.local/share/bash-completion/completions/cinoc
    Completions(cmd::completions::CompletionsArgs),
    /// Write a manual page for every command into a folder.
    Man(cmd::man::ManArgs),
}

impl Command {
    /// Runs the command: some are shared by all ranks of a job, the others are for the first.
    fn run(self, registry: &Registry) -> Result<()> {
        match self {
            Self::Train(args) => ranks::together(|| args.run(registry)),
            Self::Eval(args) => ranks::together(|| args.run(registry)),
            Self::Optimum(args) => ranks::together(|| args.run(registry)),
            Self::Study(args) => ranks::together(|| args.run(registry)),
            Self::Bench(args) if args.spread() => ranks::together(|| args.run(registry)),
            _ if !ranks::first() => Ok(()),
            Self::List(args) => args.run(registry),
            Self::New(args) => args.run(registry),
            Self::Data(args) => args.run(registry),
            Self::Design(args) => args.run(registry),
            Self::Stability(args) => args.run(registry),
            Self::Show(args) => args.run(registry),
            Self::Export(args) => args.run(registry),
            Self::Check(args) => args.run(registry),
            Self::Bench(args) => args.run(registry),
            Self::Scale(args) => args.run(registry),
            Self::Verify(args) => args.run(registry),
            Self::Completions(args) => args.run(Cli::command()),
            Self::Man(args) => args.run(Cli::command()),
        }
    }
}

/// Runs the command line with these problems and policies.
pub fn run(registry: Registry) -> ExitCode {
    ranks::silence_others();
    let first = library::names(&registry)
        .next()
        .map_or("list".into(), |name| format!("show {name}   (draws a trained controller at work)"));
    let help = format!("Start with:  {} {first}", out::program());
    let asked = Cli::command().after_help(help).try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let done = match asked {
        Ok(cli) => cli.command.run(&registry),
        Err(answer) if ranks::first() => answer.exit(),
        Err(_) => Ok(()),
    };
    // The first of several ranks speaks for all.
    match done {
        _ if !ranks::first() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::SUCCESS,
        // As if the signal had ended the process, so that a loop in a shell stops too.
        Err(error) if error.is::<cmd::train::Stopped>() => {
            out::note!("{error}");
            ExitCode::from(130)
        }
        Err(error) if error.is::<out::Closed>() => ExitCode::from(141),
        Err(error) => {
            out::note!("{}: {}", out::program(), advice::told(&error));
            ExitCode::FAILURE
        }
    }
}
