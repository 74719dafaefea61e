//! The one place that prints: data goes to standard output, words for people to standard error.
//!
//! What came from models and files of others is stripped of everything that steers a terminal before it is printed as
//! text. JSON is printed as it is; characters that could steer a terminal are written as `\u` escapes, which mean the
//! same.

use super::error::CliError;
use crate::domain::text::{is_safe, one_line, sanitise};
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal as _, Write};
use unicode_width::UnicodeWidthStr as _;

/// Longest cell that is printed, in characters.
const CELL_MAX: usize = 4_000;

/// How lists are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Aligned columns.
    Table,
    /// One JSON object a line.
    Json,
}

impl Form {
    /// The form that `--json` asks for.
    pub fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Table }
    }
}

/// Where a command prints to.
pub struct Out {
    data: Box<dyn Write + Send>,
    people: Box<dyn Write + Send>,
    /// The terminal's width, where standard output is one.
    width: Option<usize>,
}

impl Out {
    /// Standard output and standard error.
    pub fn standard() -> Self {
        let stdout = std::io::stdout();
        let width = stdout.is_terminal().then(|| terminal_size().map_or(80, |(width, _)| width.into()));
        Self { data: Box::new(std::io::LineWriter::new(stdout)), people: Box::new(std::io::stderr()), width }
    }

    /// Somewhere else, for tests: `width` as if data were a terminal of so many columns.
    pub fn to(data: impl Write + Send + 'static, people: impl Write + Send + 'static, width: Option<usize>) -> Self {
        Self { data: Box::new(data), people: Box::new(people), width }
    }

    /// A line of data.
    ///
    /// # Errors
    /// [`CliError::ReaderGone`] when the pipe is closed.
    pub fn line(&mut self, text: &str) -> Result<(), CliError> {
        writeln!(self.data, "{}", sanitise(text)).map_err(broken)
    }

    /// Text of our own, as it is (a completion script, an example file).
    ///
    /// # Errors
    /// [`CliError::ReaderGone`] when the pipe is closed.
    pub fn raw(&mut self, text: &str) -> Result<(), CliError> {
        self.data.write_all(text.as_bytes()).and_then(|()| self.data.flush()).map_err(broken)
    }

    /// One JSON object on a line of its own.
    ///
    /// # Errors
    /// [`CliError::ReaderGone`] when the pipe is closed.
    pub fn json(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string(value).map_err(|error| CliError::Failed(format!("cannot write JSON: {error}")))?;
        writeln!(self.data, "{}", escape(&text)).map_err(broken)
    }

    /// Aligned columns.
    ///
    /// # Errors
    /// [`CliError::ReaderGone`] when the pipe is closed.
    pub fn table(&mut self, table: &Table) -> Result<(), CliError> {
        table.lines(self.width).iter().try_for_each(|line| writeln!(self.data, "{line}").map_err(broken))
    }

    /// Words for people. A closed standard error is nobody's fault and stops nothing.
    pub fn say(&mut self, text: &str) {
        let _ = writeln!(self.people, "{}", sanitise(text));
    }
}

fn broken(source: std::io::Error) -> CliError {
    match source.kind() {
        ErrorKind::BrokenPipe => CliError::ReaderGone,
        _ => CliError::Io { action: "write to standard output".into(), source },
    }
}

/// JSON whose strings hold no character that could steer a terminal.
fn escape(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_safe(c) && c != '\u{200d}' {
            out.push(c);
        } else {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

/// On which side a column is filled up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows under a heading.
pub struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; missing cells are empty.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells = cells.into_iter().map(|cell| one_line(&cell.into(), CELL_MAX)).take(self.columns.len());
        self.rows.push(cells.collect());
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines, the heading first. With a `width` the last column is cut so that no line is longer.
    pub fn lines(&self, width: Option<usize>) -> Vec<String> {
        let heading: Vec<String> = self.columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let all = || std::iter::once(&heading).chain(&self.rows);
        let widest = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(widest).collect();
        all().map(|row| self.render(row, &widths, width)).collect()
    }

    fn render(&self, row: &[String], widths: &[usize], limit: Option<usize>) -> String {
        let mut line = String::new();
        for (column, (_, align)) in self.columns.iter().enumerate() {
            let cell = row.get(column).map_or("", String::as_str);
            let fill = " ".repeat(widths[column].saturating_sub(cell.width()));
            if column > 0 {
                line.push_str("  ");
            }
            match align {
                Align::Left => line.extend([cell, &fill]),
                Align::Right => line.extend([fill.as_str(), cell]),
            }
        }
        let line = line.trim_end();
        limit.map_or_else(|| line.to_owned(), |limit| fit(line, limit))
    }
}

/// `text` cut to `width` columns, with `…` where something is missing.
pub fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        let next = out.width() + unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if next + 1 > width {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// Columns and rows of the terminal on standard output.
pub fn terminal_size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    (size.ws_col > 0 && std::io::stdout().is_terminal()).then_some((size.ws_col, size.ws_row))
}
