//! `cinoc man`

use crate::out::{program, say};
use anyhow::{Context, Result};
use cinoc::internal::shown;
use clap::Command;
use std::path::PathBuf;

/// Arguments of `cinoc man`.
#[derive(clap::Args)]
pub struct ManArgs {
    /// Folder for the pages, one per command; for example ~/.local/share/man/man1.
    #[arg(short, long, default_value = "man", value_name = "FOLDER")]
    out: PathBuf,
}

impl ManArgs {
    /// Runs the command.
    pub fn run(self, command: Command) -> Result<()> {
        let folder = shown(&self.out);
        let failed = || format!("the pages cannot be written to {folder}; name another folder with -o");
        std::fs::create_dir_all(&self.out).with_context(failed)?;
        // `help` needs no page.
        let command = command.name(program()).disable_help_subcommand(true);
        clap_mangen::generate_to(command, &self.out).with_context(failed)?;
        say!("Wrote a page for every command to {folder}; read one with  man {folder}/{}.1", program())
    }
}
