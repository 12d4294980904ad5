//! Curves of a run, update by update: a CSV file, and an event file for TensorBoard.

use super::checkpoint::Curves;
use super::folder::{METRICS, open_own};
use super::tensorboard::{EventWriter, is_file_name, seconds};
use crate::Error;
use crate::error::shown;
use crate::train::Progress;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Writers of both files. The CSV holds no times, so that a resumed run writes a byte-identical one.
pub struct Metrics {
    path: PathBuf,
    csv: BufWriter<File>,
    bytes: u64,
    events: EventWriter,
    terms: Vec<String>,
}

/// Returns the seconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64())
}

impl Metrics {
    /// Creates both files in a folder that has neither; `terms` names the cost terms, `wall` the event file.
    pub fn create(folder: &Path, terms: &[&str], wall: f64) -> Result<Self, Error> {
        let path = folder.join(METRICS);
        let csv = File::create_new(&path).map_err(Error::file(&path))?;
        let events = EventWriter::create(folder, wall).map_err(Error::file(folder))?;
        let mut metrics = Self::new(path, csv, events, terms);
        metrics.header()?;
        Ok(metrics)
    }

    fn new(path: PathBuf, csv: File, events: EventWriter, terms: &[&str]) -> Self {
        let terms = terms.iter().map(|t| (*t).to_owned()).collect();
        Self { path, csv: BufWriter::new(csv), bytes: 0, events, terms }
    }

    fn header(&mut self) -> Result<(), Error> {
        let header = format!("update,cost,{},gradient,rate,validation\n", self.terms.join(","));
        self.line(&header)
    }

    /// Continues both files, truncated to their length at the checkpoint. If a file is shorter, points of its curves
    /// are lost but the run continues: metrics after the last whole line, events in a new file. Returns such notices as
    /// the second value.
    pub fn reopen(folder: &Path, terms: &[&str], curves: &Curves) -> Result<(Self, Vec<String>), Error> {
        let path = folder.join(METRICS);
        let csv = open_own(&path)?;
        let mut notices = Vec::new();
        let old = is_file_name(&curves.events).then(|| EventWriter::open_at(&folder.join(&curves.events), curves.events_bytes));
        let events = match old {
            Some(Ok(events)) => events,
            _ => {
                notices.push(format!("the event file of {} was lost or cut short; a new one continues from here", shown(folder)));
                // Sorted after the old one by name, also if the clock was set back: TensorBoard reads files in that
                // order.
                let after = seconds(&curves.events).map_or(0.0, |old| old + 1.0);
                new_events(folder, now().max(after)).map_err(Error::file(folder))?
            }
        };
        let mut metrics = Self::new(path, csv, events, terms);
        let kept = metrics.cut(curves.metrics_bytes).map_err(Error::file(&metrics.path))?;
        if kept < curves.metrics_bytes {
            notices.push(format!("{} was cut short; the lost lines are missing", shown(&metrics.path)));
        }
        metrics.bytes = kept;
        if kept == 0 {
            metrics.header()?;
        }
        Ok((metrics, notices))
    }

    /// Truncates the CSV to at most `bytes` and to whole lines, since readers fail on half a line. Returns its length.
    fn cut(&mut self, bytes: u64) -> io::Result<u64> {
        let (file, mut text) = (self.csv.get_mut(), Vec::new());
        Read::by_ref(file).take(bytes).read_to_end(&mut text)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end as u64 + 1);
        file.set_len(whole)?;
        file.seek(SeekFrom::Start(whole))?;
        Ok(whole)
    }

    fn line(&mut self, text: &str) -> Result<(), Error> {
        self.csv.write_all(text.as_bytes()).map_err(Error::file(&self.path))?;
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Adds one update.
    pub fn write(&mut self, progress: &Progress) -> Result<(), Error> {
        let Progress { update, cost, terms, gradient, rate, validation } = progress;
        let list: Vec<String> = terms.iter().map(|t| format!("{t:e}")).collect();
        let score = validation.map_or_else(String::new, |v| format!("{v:e}"));
        self.line(&format!("{update},{cost:e},{},{gradient:e},{rate:e},{score}\n", list.join(",")))?;
        let named = self.terms.iter().zip(terms).map(|(name, value)| (format!("cost/{name}"), *value));
        let mut all: Vec<(String, f64)> = named.collect();
        all.extend([("cost/total".into(), *cost), ("gradient".into(), *gradient), ("rate".into(), *rate)]);
        all.extend(validation.map(|v| ("validation".into(), v)));
        let (wall, step) = (now(), *update as i64);
        for (tag, value) in all {
            self.events.scalar(wall, step, &tag, value as f32).map_err(Error::file(self.events.path()))?;
        }
        Ok(())
    }

    /// Flushes both files and returns their lengths.
    pub fn flush(&mut self) -> Result<Curves, Error> {
        self.csv.flush().map_err(Error::file(&self.path))?;
        self.events.flush().map_err(Error::file(self.events.path()))?;
        let events = self.events.path().file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Curves { metrics_bytes: self.bytes, events, events_bytes: self.events.len() })
    }
}

/// Creates a new event file beside older ones.
fn new_events(folder: &Path, mut wall: f64) -> io::Result<EventWriter> {
    loop {
        match EventWriter::create(folder, wall) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => wall += 1.0,
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tensorboard::file_name;

    /// Creates the curves of an interrupted run: three lines, and an event file of a clock that was ahead.
    fn left(name: &str, csv: &[u8]) -> (PathBuf, Curves) {
        let folder = std::env::temp_dir().join(format!("cinoc-metrics-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join(METRICS), csv).expect("written");
        let events = file_name(now() + 1e6);
        std::fs::write(folder.join(&events), "cut").expect("written");
        (folder, Curves { metrics_bytes: 20, events, events_bytes: 100 })
    }

    #[test]
    fn nothing_is_lost_but_the_line_that_was_cut() {
        let whole = b"update,cost\n1,2\n3,4\n";
        for length in 0..=whole.len() {
            let (folder, curves) = left("cut", &whole[..length]);
            let (mut metrics, notices) = Metrics::reopen(&folder, &["cost"], &curves).expect("it continues");
            metrics.line("5,6\n").expect("a line");
            metrics.flush().expect("flushed");
            let found = std::fs::read(folder.join(METRICS)).expect("metrics");
            let kept = whole[..length].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let header: &[u8] = if kept == 0 { b"update,cost,cost,gradient,rate,validation\n" } else { b"" };
            assert_eq!(found, [&whole[..kept], header, b"5,6\n"].concat(), "cut to {length} bytes");
            assert_eq!(notices.len(), 1 + usize::from(length < whole.len()), "{notices:?}");
            std::fs::remove_dir_all(folder).expect("removed");
        }
    }

    /// Regression test: TensorBoard reads event files in the order of their names, and a clock that was set back put
    /// the end before the beginning.
    #[test]
    fn a_new_event_file_comes_behind_the_old_one() {
        let (folder, curves) = left("clock", b"");
        let (metrics, _) = Metrics::reopen(&folder, &[], &curves).expect("it continues");
        let new = metrics.events.path().file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        assert!(new > curves.events, "{new} after {}", curves.events);
        // A name that no clock gives is not used.
        let far = Curves { events: format!("events.out.tfevents.{}.cinoc", u64::MAX), ..curves };
        assert!(Metrics::reopen(&folder, &[], &far).is_ok());
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
