//! What a frame costs: a full screen of text drawn anew, and one changed line.

#![allow(clippy::expect_used, reason = "drawing into memory cannot fail")]

use criterion::{Criterion, criterion_group, criterion_main};
use ratatui::Terminal;
use ratatui::layout::Size;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use signoff::tui::surface::Surface;
use std::hint::black_box;

const SIZE: Size = Size { width: 120, height: 40 };

fn lines(last: usize) -> Vec<Line<'static>> {
    let text = "│ ● alice   working  #3 │ 4  ready   Add tests for totals │ bash cargo test … ok 3.1 s │";
    (0..usize::from(SIZE.height)).map(|row| Line::from(format!("{row:>3} {text} {}", if row == 39 { last } else { 0 }))).collect()
}

fn frames(criterion: &mut Criterion) {
    let mut terminal = Terminal::new(Surface::new(SIZE)).expect("in memory");
    let mut count = 0;
    criterion.bench_function("a full frame at 120x40", |bencher| {
        bencher.iter(|| {
            terminal.clear().expect("in memory");
            terminal.draw(|frame| frame.render_widget(Paragraph::new(lines(0)), frame.area())).expect("in memory");
            black_box(terminal.backend_mut().take())
        });
    });
    criterion.bench_function("one changed line at 120x40", |bencher| {
        bencher.iter(|| {
            count += 1;
            terminal.draw(|frame| frame.render_widget(Paragraph::new(lines(count)), frame.area())).expect("in memory");
            black_box(terminal.backend_mut().take())
        });
    });
}

criterion_group!(benches, frames);
criterion_main!(benches);
