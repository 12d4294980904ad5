//! The `cinoc` command with an additional problem and policy.

fn main() -> std::process::ExitCode {
    cinoc_cli::run(own_problem::registry())
}
