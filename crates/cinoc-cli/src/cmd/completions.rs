//! `cinoc completions`

use crate::out::{program, say};
use anyhow::Result;
use clap::Command;
use clap_complete::Shell;

/// Arguments of `cinoc completions`.
#[derive(clap::Args)]
pub struct CompletionsArgs {
    /// Which shell.
    shell: Shell,
}

impl CompletionsArgs {
    /// Runs the command.
    pub fn run(self, mut command: Command) -> Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut command, program(), &mut text);
        say!("{}", String::from_utf8_lossy(&text).trim_end())
    }
}
