//! Files: atomic writes, bounded reads, and cached arrays.

pub mod cache;
#[cfg(feature = "files")]
pub mod npy;
#[cfg(feature = "files")]
pub mod picture;
pub mod protobuf;

use crate::error::shown;
use crate::{Error, budget};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of bytes read from a device, which may be endless. Regular files are limited only by memory.
const ENDLESS: u64 = 1 << 28;

/// Maximum size of a text file, in bytes.
const TEXT: u64 = 1 << 24;

/// Opens a file for reading. Pipes and sockets are refused without opening them: that would wait for a writer.
pub fn open(path: &Path) -> Result<File, Error> {
    if waits(&std::fs::metadata(path).map_err(Error::file(path))?) {
        return Err(Error::file(path)(io::Error::new(ErrorKind::InvalidInput, "it is a pipe, not a file")));
    }
    File::open(path).map_err(Error::file(path))
}

/// Returns true if opening such a file may block on another process.
fn waits(about: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        about.file_type().is_fifo() || about.file_type().is_socket()
    }
    #[cfg(not(unix))]
    {
        let _ = about;
        false
    }
}

/// Reads a whole file.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    read_up_to(path, u64::MAX)
}

/// Reads a whole file of at most `most` bytes.
pub fn read_up_to(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let file = open(path)?;
    let about = file.metadata().map_err(Error::file(path))?;
    if about.is_file() && about.len() > most {
        let reason = format!("it is larger than {} MB", most >> 20);
        return Err(Error::file(path)(io::Error::new(ErrorKind::InvalidInput, reason)));
    }
    let (length, most) = if about.is_file() { (about.len(), u64::MAX) } else { (0, ENDLESS.min(most)) };
    budget::check(&format!("reading {}", shown(path)), length as f64)?;
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
    String::from_utf8(read_up_to(path, TEXT)?).map_err(not_text)
}

/// Writes a file atomically: after a kill or on a full disk the old file is intact.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let (partial, file) = partial(path).map_err(Error::file(path))?;
    if let Err(error) = fill(file, bytes).and_then(|()| std::fs::rename(&partial, path)) {
        let _ = std::fs::remove_file(&partial);
        return Err(Error::file(path)(error));
    }
    sync_folder(path);
    Ok(())
}

/// A file that is written in parts and appears at its path atomically. A link at the path is replaced, not followed; a
/// device is written to directly.
pub struct WholeFile {
    path: PathBuf,
    /// The temporary file that is renamed at the end; none for a device.
    partial: Option<PathBuf>,
    file: File,
}

impl WholeFile {
    /// Starts a file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let kind = path.symlink_metadata().ok().map(|about| about.file_type());
        if kind.is_some_and(|kind| !(kind.is_file() || kind.is_symlink() || kind.is_dir())) {
            return Ok(Self { path: path.into(), partial: None, file: File::options().write(true).open(path)? });
        }
        let (partial, file) = partial(path)?;
        Ok(Self { path: path.into(), partial: Some(partial), file })
    }

    /// Moves the file to its path. Dropping it instead keeps the old one.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(partial) = &self.partial {
            self.file.sync_all()?;
            std::fs::rename(partial, &self.path)?;
            self.partial = None;
            sync_folder(&self.path);
        }
        Ok(())
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            let _ = std::fs::remove_file(partial);
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

fn fill(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

/// Creates a temporary file beside `path` with a unique name: `.NAME.PROCESS-COUNT.partial`.
fn partial(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "this is not a valid file name"))?;
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

/// Returns true if `name` is a temporary file that a killed process may have left while writing `whole`.
pub fn is_partial(name: &OsStr, whole: &str) -> bool {
    let middle = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_prefix(whole)?.strip_prefix('.'));
    let numbers = middle.and_then(|rest| rest.strip_suffix(".partial")?.split_once('-'));
    numbers.is_some_and(|(a, b)| [a, b].iter().all(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit())))
}

/// Flushes the folder so that the rename survives a crash. Where the system cannot do that, the file is in place all
/// the same.
fn sync_folder(path: &Path) {
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: reading a device used to continue until memory was exhausted.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_does_not_end_is_refused() {
        let error = read(Path::new("/dev/zero")).expect_err("the device is endless").to_string();
        assert!(error.contains("it does not end; check"), "{error}");
        assert_eq!(read(Path::new("/dev/null")).expect("nothing"), b"");
        let program = std::env::temp_dir().join(format!("cinoc-bytes-{}", std::process::id()));
        std::fs::write(&program, [0xff; 64]).unwrap();
        let error = read_text(&program).expect_err("no text").to_string();
        assert!(error.contains("not text in UTF-8; check"), "{error}");
        let error = read_up_to(&program, 63).expect_err("it is longer").to_string();
        assert!(error.contains("it is larger than"), "{error}");
        std::fs::remove_file(program).unwrap();
        assert!(read(Path::new("/")).is_err() && read(Path::new("/nowhere")).is_err());
    }

    /// Regression test: opening a pipe used to wait for a writer forever.
    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_at_once() {
        let pipe = std::env::temp_dir().join(format!("cinoc-pipe-{}", std::process::id()));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        let error = read(&pipe).expect_err("nothing writes to it").to_string();
        std::fs::remove_file(&pipe).unwrap();
        assert!(error.contains("it is a pipe, not a file"), "{error}");
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
        // A folder is in the way: no temporary file remains.
        std::fs::create_dir(folder.join("a.y")).unwrap();
        std::fs::write(folder.join("a.y/inside"), "foreign").unwrap();
        assert!(write_whole(&folder.join("a.y"), b"y").is_err());
        let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a.partial", "a.x", "a.y"]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// Regression test: a link at the path of an array file used to be followed.
    #[cfg(unix)]
    #[test]
    fn a_file_in_parts_replaces_a_link_and_is_whole_or_absent() {
        let folder = std::env::temp_dir().join(format!("cinoc-parts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, victim) = (folder.join("a.npz"), folder.join("victim"));
        std::fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"whole").unwrap();
        file.finish().unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), std::fs::read(&victim).unwrap()), (b"whole".to_vec(), b"mine".to_vec()));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "nothing else is left");
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
