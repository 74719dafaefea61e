//! What was spent, as lines: by member, by model and by task.

use super::clip::{left, one_line, right, width};
use super::projection::Projection;
use super::rich::{Ink, RichLine, Span, line};
use super::words;
use crate::domain::usage::Spend;

/// A column of numbers: its heading, and what it tells of a spending. Those at the end go first where there is little room.
type Column = (&'static str, fn(&Spend) -> String);

const COLUMNS: [Column; 7] = [
    ("cost", words::cost),
    ("tokens", |spend| words::thousands(spend.usage.total())),
    ("calls", |spend| words::thousands(spend.calls)),
    ("in", |spend| words::thousands(spend.usage.input)),
    ("out", |spend| words::thousands(spend.usage.output)),
    ("cached", |spend| words::thousands(spend.usage.cached)),
    ("reasoning", |spend| words::thousands(spend.usage.reasoning)),
];
/// The names' column, in cells: at least, and at most.
const NAME: (usize, usize) = (8, 40);

/// The whole page.
pub fn lines(team: &Projection, cols: usize) -> Vec<RichLine> {
    if team.totals.calls == 0 {
        return vec![line("Nothing was spent yet.", Ink::Dim)];
    }
    let members: Vec<Row<'_>> =
        team.members().filter(|view| view.spend.calls > 0).map(|view| (view.member.name.to_string(), &view.spend)).collect();
    let models: Vec<Row<'_>> = team.by_model.iter().map(|(model, spend)| (model.clone(), spend)).collect();
    let tasks = team.by_task.iter().map(|(id, spend)| {
        let subject = team.board.get(*id).map_or("(deleted)", |task| task.subject.as_str());
        (format!("{id} {subject}"), spend)
    });
    let tasks: Vec<Row<'_>> = tasks.collect();
    let all = vec![("together".to_owned(), &team.totals)];
    let tables = [("The team", all), ("By member", members), ("By model", models), ("By task", tasks)];
    let layout = Layout::new(tables.iter().flat_map(|(_, rows)| rows), cols);
    let mut out = Vec::new();
    for (title, rows) in tables.iter().filter(|(_, rows)| !rows.is_empty()) {
        if !out.is_empty() {
            out.push(Vec::new());
        }
        out.push(layout.head(title));
        out.extend(rows.iter().map(|(name, spend)| layout.row(name, spend)));
    }
    if team.totals.unpriced {
        out.push(Vec::new());
        out.push(line(one_line("? : the price of a model is not known ([prices] in the settings)", cols), Ink::Dim));
    }
    out
}

type Row<'s> = (String, &'s Spend);

/// One width for each column over all tables, so that they align.
struct Layout {
    name: usize,
    columns: Vec<(Column, usize)>,
}

impl Layout {
    fn new<'s>(rows: impl Iterator<Item = &'s Row<'s>>, cols: usize) -> Self {
        let rows: Vec<&Row<'_>> = rows.collect();
        let longest = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0).clamp(NAME.0, NAME.1);
        let mut columns = Vec::new();
        let mut room = cols.saturating_sub(NAME.0);
        for column in COLUMNS {
            let cells = rows.iter().map(|(_, spend)| width(&column.1(spend)));
            let wide = cells.max().unwrap_or(0).max(width(column.0));
            let Some(left) = room.checked_sub(wide + 2) else { break };
            room = left;
            columns.push((column, wide));
        }
        Self { name: longest.min(NAME.0 + room), columns }
    }

    fn head(&self, title: &str) -> RichLine {
        let mut cells = vec![Span::new(left(&one_line(title, self.name), self.name), Ink::Heading)];
        cells.extend(self.columns.iter().map(|((heading, _), wide)| Span::new(format!("  {}", right(heading, *wide)), Ink::Dim)));
        cells
    }

    fn row(&self, name: &str, spend: &Spend) -> RichLine {
        let numbers: String = self.columns.iter().map(|((_, tell), wide)| format!("  {}", right(&tell(spend), *wide))).collect();
        vec![Span::new(left(&one_line(name, self.name), self.name) + &numbers, Ink::Text)]
    }
}
