//! What the supervisor is shown: the goal, who is there, reports, errors and the last steps.

use super::{Seat, SeatState, Team};
use crate::domain::text::one_line;
use std::fmt::Write as _;

/// So much of a report is shown; the member's own words in full are its mail or its files.
const REPORT_SHOWN: usize = 2_000;
/// So many past steps are shown.
const STEPS_SHOWN: usize = 10;

/// Goal, members, reports and last steps.
pub fn show(team: &Team) -> String {
    let mut out = format!("## Goal\n{}\n\n## Members\n", team.prompt);
    for seat in team.live() {
        let _ = writeln!(out, "- {}", card(seat));
    }
    reports(&mut out, team);
    let steps: Vec<String> = team.journal.iter().rev().take(STEPS_SHOWN).map(ToString::to_string).collect();
    if !steps.is_empty() {
        let _ = writeln!(out, "\n## Last steps");
        steps.iter().rev().for_each(|step| {
            let _ = writeln!(out, "{step}");
        });
    }
    out
}

fn card(seat: &Seat) -> String {
    let mut line = seat.name().to_string();
    if !seat.card.role.is_empty() {
        let _ = write!(line, " ({})", one_line(&seat.card.role, 120));
    }
    if !seat.card.capabilities.is_empty() {
        let _ = write!(line, ", can: {}", one_line(&seat.card.capabilities.join(", "), 200));
    }
    match seat.state {
        SeatState::Running => line.push_str(", at work"),
        SeatState::Held => line.push_str(", waits for an approval"),
        SeatState::Free | SeatState::Interrupted | SeatState::Gone => {}
    }
    if seat.runs > 0 {
        let _ = write!(line, ", ran {}×", seat.runs);
    }
    line
}

fn reports(out: &mut String, team: &Team) {
    let told: Vec<&Seat> = team.seats.iter().filter(|seat| seat.error.is_some() || !seat.output.is_empty()).collect();
    if told.is_empty() {
        return;
    }
    out.push_str("\n## Reports\n");
    for seat in told {
        if let Some(error) = &seat.error {
            let _ = writeln!(out, "- {} IN ERROR: {}", seat.name(), one_line(error, 400));
        }
        if !seat.output.is_empty() {
            let _ = writeln!(out, "- {}: {}", seat.name(), cut(&seat.output));
        }
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= REPORT_SHOWN {
        return text.to_owned();
    }
    let head: String = text.chars().take(REPORT_SHOWN).collect();
    format!("{head}… (cut)")
}
