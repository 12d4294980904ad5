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
mod picture;

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
    /// Draw one controlled episode as PNG, SVG or GIF.
    Show(cmd::show::Args),
    /// Check the derivatives of a problem, how its gradient grows, and the memory it needs.
    Check(cmd::check::Args),
    /// Time training updates.
    Bench(cmd::bench::Args),
    /// Time a tick of ever larger swarms and grids.
    Scale(cmd::scale::Args),
    /// Test this installation, in a minute or two.
    Verify(cmd::verify::Args),
}

/// Does what the command line asks for, with these problems and policies.
pub fn run(registry: Registry) -> ExitCode {
    let first = library::names(&registry)
        .next()
        .map_or("list".into(), |name| format!("show {name}   (draws a trained controller at work)"));
    let help = format!("Start with:  {} {first}", out::program());
    let matches = Cli::command().after_help(help).get_matches();
    let (cli, registry) = (Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()), &registry);
    let done = match cli.command {
        Command::List(args) => args.run(registry),
        Command::Train(args) => args.run(registry),
        Command::Data(args) => args.run(registry),
        Command::Eval(args) => args.run(registry),
        Command::Optimum(args) => args.run(registry),
        Command::Show(args) => args.run(registry),
        Command::Check(args) => args.run(registry),
        Command::Bench(args) => args.run(registry),
        Command::Scale(args) => args.run(registry),
        Command::Verify(args) => args.run(registry),
    };
    match done {
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
