//! Files: written whole or not at all, and numbers kept for the next time.

pub mod cache;
pub mod protobuf;

use crate::{Error, memory};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The most bytes of a pipe or a device, which may have no end. Files may be as large as there is memory for them.
const ENDLESS: u64 = 1 << 28;

/// Reads a whole file.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let file = File::open(path).map_err(Error::file(path))?;
    let about = file.metadata().map_err(Error::file(path))?;
    let (length, most) = if about.is_file() { (about.len(), u64::MAX) } else { (0, ENDLESS) };
    memory::afford(&format!("reading {}", path.display()), length as f64)?;
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(most).read_to_end(&mut bytes).map_err(Error::file(path))?;
    if bytes.len() as u64 >= most {
        return Err(Error::file(path)(io::Error::new(ErrorKind::InvalidInput, "it does not end")));
    }
    Ok(bytes)
}

/// Reads a file of text.
pub fn read_text(path: &Path) -> Result<String, Error> {
    let not_text = |_| Error::file(path)(io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8"));
    String::from_utf8(read(path)?).map_err(not_text)
}

/// Writes a file whole or not at all: a kill in the middle or a full disk leaves the old one.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let (partial, file) = partial(path).map_err(Error::file(path))?;
    if let Err(error) = fill(file, bytes).and_then(|()| std::fs::rename(&partial, path)) {
        let _ = std::fs::remove_file(&partial);
        return Err(Error::file(path)(error));
    }
    sync_folder(path);
    Ok(())
}

fn fill(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

/// A new file beside `path`, of a name that nothing else has: `.NAME.PROCESS-COUNT.partial`.
fn partial(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "this is no name for a file"))?;
    loop {
        let mut unique = OsString::from(".");
        unique.push(name);
        unique.push(format!(".{}-{}.partial", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let path = path.with_file_name(unique);
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether `name` is what a killed process can leave of writing `whole`.
pub fn is_partial(name: &OsStr, whole: &str) -> bool {
    let middle = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_prefix(whole)?.strip_prefix('.'));
    let numbers = middle.and_then(|rest| rest.strip_suffix(".partial")?.split_once('-'));
    numbers.is_some_and(|(a, b)| [a, b].iter().all(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit())))
}

/// Puts the new name on the disk too. Where a system cannot do that, the file is in its place all the same.
fn sync_folder(path: &Path) {
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reading a device once went on until the memory was full.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_does_not_end_is_refused() {
        let error = read(Path::new("/dev/zero")).expect_err("it has no end").to_string();
        assert!(error.contains("it does not end; check"), "{error}");
        assert_eq!(read(Path::new("/dev/null")).expect("nothing"), b"");
        let error = read_text(Path::new("/proc/self/exe")).expect_err("a program").to_string();
        assert!(error.contains("not text in UTF-8; check"), "{error}");
        assert!(read(Path::new("/")).is_err() && read(Path::new("/nowhere")).is_err());
    }

    #[test]
    fn no_other_file_is_touched() {
        let folder = std::env::temp_dir().join(format!("cinoc-disk-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.partial"), "foreign").unwrap();
        write_whole(&folder.join("a.x"), b"x").unwrap();
        write_whole(&folder.join("a.x"), b"again").unwrap();
        assert_eq!(std::fs::read(folder.join("a.partial")).unwrap(), b"foreign");
        assert_eq!(std::fs::read(folder.join("a.x")).unwrap(), b"again");
        // A folder stands in the way: nothing is left behind.
        std::fs::create_dir(folder.join("a.y")).unwrap();
        std::fs::write(folder.join("a.y/inside"), "foreign").unwrap();
        assert!(write_whole(&folder.join("a.y"), b"y").is_err());
        let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a.partial", "a.x", "a.y"]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_partial_file_is_known_by_its_name() {
        let (path, file) = partial(&std::env::temp_dir().join("a.x")).unwrap();
        drop(file);
        std::fs::remove_file(&path).unwrap();
        assert!(is_partial(path.file_name().unwrap(), "a.x"));
        for other in [".a.x.1-2.partial.mine", ".a.x.1-.partial", "a.x.1-2.partial", ".b.x.1-2.partial", ".a.x.old-1.partial"] {
            assert!(!is_partial(OsStr::new(other), "a.x"), "{other}");
        }
    }
}
