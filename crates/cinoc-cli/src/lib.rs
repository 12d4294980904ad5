//! The `cinoc` command as a library, so that a crate with problems or policies of its own has all of it:
//!
//! ```no_run
//! use cinoc::Registry;
//!
//! fn main() -> std::process::ExitCode {
//!     cinoc_cli::run(Registry::builtin()) // .problem::<Mine>().policy::<MyPolicy>()
//! }
//! ```

mod arrays;
mod cmd;
mod draw;
mod library;
mod out;
mod page;
mod picture;
mod ranks;
mod stop;

/// What reads files, for the crate that feeds it damaged ones. Not an interface: it changes as it likes.
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
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the problems, or all settings of one.
    List(cmd::list::Args),
    /// Train a policy; shows progress, writes a run folder.
    Train(cmd::train::Args),
    /// Make the states that instances of a chaotic problem are drawn from, and describe them.
    Data(cmd::data::Args),
    /// Score a trained policy on held-out instances, also with other numbers of agents or failures.
    Eval(cmd::eval::Args),
    /// Search for the best actions there are for each instance: what a policy can be measured against.
    Optimum(cmd::optimum::Args),
    /// Find out what scores depend on: a table and a picture.
    Study(cmd::study::Args),
    /// Draw one controlled episode as PNG, SVG or GIF, or write a page to play with.
    Show(cmd::show::Args),
    /// Write a trained policy as a C file or an ONNX model, for a controller on one agent.
    Export(cmd::export::Args),
    /// Check the derivatives of a problem, how its gradient grows, and the memory it needs.
    Check(cmd::check::Args),
    /// Time training updates.
    Bench(cmd::bench::Args),
    /// Time a tick of ever larger swarms and grids.
    Scale(cmd::scale::Args),
    /// Test this installation, in a minute or two.
    Verify(cmd::verify::Args),
    /// Print the completions of a shell, for example: cinoc completions bash > ~/.local/share/bash-completion/completions/cinoc
    Completions(cmd::completions::Args),
    /// Write a manual page for every command into a folder.
    Man(cmd::man::Args),
}

impl Command {
    /// Some commands are shared by all ranks of a job; the others are for one.
    fn run(self, registry: &Registry) -> Result<()> {
        match self {
            Self::Train(args) => ranks::together(|| args.run(registry)),
            Self::Eval(args) => ranks::together(|| args.run(registry)),
            Self::Optimum(args) => ranks::together(|| args.run(registry)),
            Self::Study(args) => ranks::together(|| args.run(registry)),
            Self::Bench(args) if args.spread() => ranks::together(|| args.run(registry)),
            _ if !ranks::first() => Ok(()),
            Self::List(args) => args.run(registry),
            Self::Data(args) => args.run(registry),
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

/// Does what the command line asks for, with these problems and policies.
pub fn run(registry: Registry) -> ExitCode {
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
    // What the first of several ranks says is said for all.
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
            out::note!("{}: {error:#}", out::program());
            ExitCode::FAILURE
        }
    }
}
