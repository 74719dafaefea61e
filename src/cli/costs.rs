//! `costs`: tokens and money by member, model and task.

use super::error::{CliError, Exit};
use super::history::history;
use super::out::{Align, Form, Out, Table};
use super::session::Session;
use crate::domain::usage::Spend;
use serde::Serialize;

/// A line of the list: the whole team, or one part of it.
#[derive(Serialize)]
struct CostLine<'a> {
    by: &'static str,
    name: &'a str,
    calls: u64,
    input: u64,
    output: u64,
    cached: u64,
    reasoning: u64,
    cost: f64,
    cost_is_complete: bool,
}

impl<'a> CostLine<'a> {
    fn new(by: &'static str, name: &'a str, spend: &Spend) -> Self {
        let usage = spend.usage;
        Self {
            by,
            name,
            calls: spend.calls,
            input: usage.input,
            output: usage.output,
            cached: usage.cached,
            reasoning: usage.reasoning,
            cost: spend.cost,
            cost_is_complete: !spend.unpriced,
        }
    }

    fn money(&self) -> String {
        match (self.cost_is_complete, self.cost > 0.0) {
            (true, _) => format!("${:.4}", self.cost),
            (false, true) => format!("${:.4}+?", self.cost),
            (false, false) => "$?".into(),
        }
    }
}

/// `costs`
pub fn costs(session: &Session, form: Form, out: &mut Out) -> Result<Exit, CliError> {
    let spending = history(&session.store()?)?.spending;
    let mut table = Table::new(&[
        ("by", Align::Left),
        ("name", Align::Left),
        ("calls", Align::Right),
        ("in", Align::Right),
        ("out", Align::Right),
        ("cached", Align::Right),
        ("reasoning", Align::Right),
        ("cost", Align::Right),
    ]);
    for (by, name, spend) in spending.rows() {
        let line = CostLine::new(by, &name, spend);
        match form {
            Form::Json => out.json(&line)?,
            Form::Table => {
                let numbers = [line.calls, line.input, line.output, line.cached, line.reasoning].map(|number| number.to_string());
                let money = line.money();
                table.row([by.to_owned(), line.name.to_owned()].into_iter().chain(numbers).chain([money]));
            }
        }
    }
    match form {
        Form::Json => {}
        Form::Table if spending.total.calls == 0 => out.say("nothing was spent yet"),
        Form::Table => out.table(&table)?,
    }
    Ok(Exit::Done)
}
