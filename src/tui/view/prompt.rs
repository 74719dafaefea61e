//! Text being written: the prompt and the forms, at the lower edge inside of the frame.

use super::Painter;
use crate::app::State;
use crate::app::clip::width;
use crate::app::overlay::{Form, Prompt, Switch};
use crate::app::rich::{Indent, Ink, RichLine, Span, wrap};
use crate::app::state::StatusLevel;
use crate::app::view::Area;
use crate::tui::style::Role;

/// Rows of text that a prompt shows at most.
const ROWS_MAX: usize = 8;
/// Rows of feedback that does not fit into the footer.
const STATUS_ROWS: usize = 8;
/// The keys that answer a question.
pub const CONFIRM_KEYS: &str = "  y yes  n no ";
/// Cells of a form's labels, where there is room for them.
const LABEL: usize = 14;

/// Why a form was not taken, in whole.
fn form_error(form: &Form, cols: usize) -> Vec<RichLine> {
    let mut lines = Vec::new();
    if let Some(error) = &form.error {
        wrap(&[Span::new(format!("✗ {error}"), Ink::Error)], cols, &Indent::default(), &mut lines);
    }
    lines
}

fn label_cols(cols: usize) -> usize {
    LABEL.min(cols / 2)
}

/// How many rows are needed below the panes.
pub fn rows(state: &State, inner: Area) -> u16 {
    let cols = usize::from(inner.width.saturating_sub(2));
    let wanted = if state.confirm.is_some() {
        long_status(state, inner).map_or(0, |lines| 1 + lines.len().min(STATUS_ROWS))
    } else if let Some(prompt) = &state.prompt {
        1 + prompt.editor.rows(cols).0.len().clamp(1, ROWS_MAX)
    } else if let Some(form) = &state.form {
        1 + form_error(form, cols).len()
            + form.fields.iter().map(|f| f.editor.rows(cols.saturating_sub(label_cols(cols))).0.len().clamp(1, 4)).sum::<usize>()
    } else {
        long_status(state, inner).map_or(0, |lines| 1 + lines.len().min(STATUS_ROWS))
    };
    u16::try_from(wanted).unwrap_or(u16::MAX).min(inner.height)
}

/// Draws what is being written and returns where the cursor stands.
pub fn draw(painter: &mut Painter<'_>, state: &State, area: Area) -> Option<(u16, u16)> {
    if area.height == 0 {
        return None;
    }
    painter.clear(area);
    if state.confirm.is_some() {
        draw_status(painter, state, area);
        None
    } else if let Some(prompt) = &state.prompt {
        draw_prompt(painter, prompt, area)
    } else if let Some(form) = &state.form {
        draw_form(painter, form, area)
    } else {
        draw_status(painter, state, area);
        None
    }
}

/// A question or feedback that does not fit into the footer, wrapped: what is decided upon, or what to do, often stands at
/// its end.
pub fn long_status(state: &State, inner: Area) -> Option<Vec<RichLine>> {
    let text = match &state.confirm {
        Some(confirm) => &confirm.question,
        None => state.status.as_ref().filter(|_| state.prompt.is_none() && state.form.is_none()).map(|status| &status.text)?,
    };
    let cols = usize::from(inner.width);
    let keys = if state.confirm.is_some() { CONFIRM_KEYS.len() } else { 2 };
    if width(text) + keys + 2 <= cols {
        return None;
    }
    let mut lines = Vec::new();
    wrap(&[Span::new(text.clone(), Ink::Text)], cols.saturating_sub(2), &Indent::default(), &mut lines);
    Some(lines)
}

fn draw_status(painter: &mut Painter<'_>, state: &State, area: Area) {
    let Some(lines) = long_status(state, area) else { return };
    let level = state.status.as_ref().map(|status| status.level).filter(|_| state.confirm.is_none());
    let (text, role) = match level {
        None => ("Really?", Role::Attention),
        Some(StatusLevel::Info) => ("✓ done", Role::Success),
        Some(StatusLevel::Hint) => ("· note", Role::Attention),
        Some(StatusLevel::Error) => ("✗ refused", Role::Error),
    };
    title(painter, area, text, role);
    for (row, line) in (1..area.height).zip(&lines) {
        painter.spans(area.x + 1, area.y + row, usize::from(area.width.saturating_sub(2)), line);
    }
}

fn title(painter: &mut Painter<'_>, area: Area, text: &str, role: Role) {
    painter.rule(area.x, area.y, area.width, Role::BorderFocused);
    painter.text(area.x + 1, area.y, usize::from(area.width.saturating_sub(2)), &format!(" {text} "), role);
}

fn draw_prompt(painter: &mut Painter<'_>, prompt: &Prompt, area: Area) -> Option<(u16, u16)> {
    match prompt.switch {
        Switch::No => title(painter, area, &prompt.title(), Role::TitleFocused),
        Switch::Asked => {
            title(painter, area, "Give the other verdict with these words? y switches, any other key does not", Role::Attention)
        }
    }
    let text = Area { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: area.height.saturating_sub(1) };
    draw_editor(painter, &prompt.editor, text)
}

fn draw_editor(painter: &mut Painter<'_>, editor: &crate::app::editor::Editor, area: Area) -> Option<(u16, u16)> {
    if area.height == 0 || area.width == 0 {
        return None;
    }
    let cols = usize::from(area.width);
    let (rows, (column, row)) = editor.rows(cols);
    let height = usize::from(area.height);
    let top = (row + 1).saturating_sub(height);
    for (line, text) in (0u16..).zip(rows.iter().skip(top).take(height)) {
        painter.text(area.x, area.y + line, cols, text, Role::Text);
    }
    let x = area.x + u16::try_from(column).unwrap_or(0).min(area.width - 1);
    Some((x, area.y + u16::try_from(row - top).unwrap_or(0)))
}

fn draw_form(painter: &mut Painter<'_>, form: &Form, area: Area) -> Option<(u16, u16)> {
    title(painter, area, form.title(), if form.error.is_some() { Role::Error } else { Role::TitleFocused });
    let all = usize::from(area.width.saturating_sub(2));
    let label_cols = label_cols(all);
    let cols = all - label_cols;
    let mut cursor = None;
    let mut y = area.y + 1;
    // A low window needs its rows for the fields: there the reason shares the title's.
    let error = form_error(form, all);
    if usize::from(area.height) > error.len() + 2 {
        for line in &error {
            painter.spans(area.x + 1, y, all, line);
            y += 1;
        }
    } else if let Some(error) = &form.error {
        title(painter, area, error, Role::Error);
    }
    let end = area.y + area.height;
    // In a low window the fields before the current one go first.
    let first = (form.at + 1).saturating_sub(usize::from(end.saturating_sub(y)));
    for (index, field) in form.fields.iter().enumerate().skip(first) {
        let height = u16::try_from(field.editor.rows(cols).0.len().clamp(1, 4)).unwrap_or(1).min(end.saturating_sub(y));
        if height == 0 {
            break;
        }
        let here = index == form.at;
        let mark = if here { "▸" } else { " " };
        let label = format!("{mark}{}", field.label);
        painter.text(area.x, y, label_cols.saturating_sub(1), &label, if here { Role::Strong } else { Role::Dim });
        let x = area.x + u16::try_from(label_cols).unwrap_or(0);
        let place = draw_editor(painter, &field.editor, Area { x, y, width: u16::try_from(cols).unwrap_or(0), height });
        if here {
            cursor = place;
        }
        if field.is_switch && here {
            painter.text(x + 5, y, cols.saturating_sub(5), "Space switches", Role::Dim);
        }
        y += height;
    }
    cursor
}
