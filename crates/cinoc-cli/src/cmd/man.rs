//! `cinoc man`

use crate::out::{program, say};
use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::Man;
use std::path::{Path, PathBuf};

/// Arguments of `cinoc man`.
#[derive(clap::Args)]
pub struct Args {
    /// Folder for the pages, one per command; for example ~/.local/share/man/man1.
    #[arg(short, long, default_value = "man", value_name = "FOLDER")]
    out: PathBuf,
}

impl Args {
    /// Runs the command.
    pub fn run(self, command: Command) -> Result<()> {
        let failed = || format!("{} cannot be written; name another folder with -o", self.out.display());
        std::fs::create_dir_all(&self.out).with_context(failed)?;
        // Names of subcommands are known once it is built, and `help` needs no page.
        let mut command = command.name(program()).disable_help_subcommand(true);
        command.build();
        let pages = 1 + command.get_subcommands().count();
        page(&command, &program(), &self.out).with_context(failed)?;
        for sub in command.get_subcommands() {
            page(sub, &format!("{}-{}", program(), sub.get_name()), &self.out).with_context(failed)?;
        }
        say!("Wrote {pages} pages to {}; read one with  man {}", self.out.display(), self.out.join(format!("{}.1", program())).display())
    }
}

/// One page.
fn page(command: &Command, name: &str, folder: &Path) -> std::io::Result<()> {
    let mut text = Vec::new();
    Man::new(command.clone().name(name.to_owned())).render(&mut text)?;
    std::fs::write(folder.join(format!("{name}.1")), text)
}
