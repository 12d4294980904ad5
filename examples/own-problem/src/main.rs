//! The whole `cinoc` command, with a problem and a policy more.

fn main() -> std::process::ExitCode {
    cinoc_cli::run(own_problem::registry())
}
