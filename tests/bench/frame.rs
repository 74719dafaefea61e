//! What a frame costs: the team's screen drawn anew, and with one changed line, by the number of tasks.
#![expect(clippy::expect_used, reason = "drawing into memory cannot fail")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ratatui::Terminal;
use ratatui::layout::Size;
use signoff::app::msg::{Key, LiveKind, Msg};
use signoff::app::{ColorMode, State, StateOptions};
use signoff::domain::event::{EVENT_VERSION, TaskChange};
use signoff::domain::{EventRecord, Member, MemberName, Party, Task, TaskId, TeamEvent, Timestamp};
use signoff::tui::style::Style;
use signoff::tui::surface::Surface;
use signoff::tui::{Screen, TeamScreen};
use std::hint::black_box;
use std::sync::Arc;

const SIZE: Size = Size { width: 120, height: 40 };
const NOW: Timestamp = Timestamp(1_760_011_200_000);

fn record(event: TeamEvent) -> Msg {
    Msg::Event(Arc::new(EventRecord { v: EVENT_VERSION, seq: 1, at: NOW, event }))
}

/// Eight members, so many tasks, a prompt that is open.
fn screen(tasks: u64) -> TeamScreen {
    let state = State::new(StateOptions::default());
    let mut screen = TeamScreen { state, style: Style::new("dark", ColorMode::Themed, false), notify: false };
    screen.update(Msg::Resized { width: SIZE.width, height: SIZE.height }, NOW);
    for name in ["lead", "m1", "m2", "m3", "m4", "m5", "m6", "m7"] {
        let member = Member::new(MemberName::parse(name).expect("a name"), "coder");
        screen.update(record(TeamEvent::MemberChanged { member: Arc::new(member), why: None }), NOW);
    }
    for id in 1..=tasks {
        let task = Arc::new(Task::new(TaskId(id), format!("Add tests for totals, part {id}")));
        screen.update(record(TeamEvent::TaskChanged { task, change: TaskChange::Loaded, by: Party::System }), NOW);
    }
    screen.update(Msg::Key(Key::char('i')), NOW);
    screen
}

fn frames(criterion: &mut Criterion) {
    let lead = MemberName::parse("lead").expect("a name");
    let mut group = criterion.benchmark_group("frame at 120x40, by tasks");
    for tasks in [100, 10_000] {
        let mut screen = screen(tasks);
        let mut terminal = Terminal::new(Surface::new(SIZE)).expect("in memory");
        group.bench_function(BenchmarkId::new("all", tasks), |bencher| {
            bencher.iter(|| {
                terminal.clear().expect("in memory");
                terminal.draw(|frame| screen.draw(frame, NOW)).expect("in memory");
                black_box(terminal.backend_mut().take())
            });
        });
        let mut count = 0;
        group.bench_function(BenchmarkId::new("a piece of an answer", tasks), |bencher| {
            bencher.iter(|| {
                count += 1;
                let text = format!("and piece {count} ");
                screen.update(Msg::Live { name: lead.clone(), kind: LiveKind::Text, text, reset: count % 4_000 == 1 }, NOW);
                terminal.draw(|frame| screen.draw(frame, NOW)).expect("in memory");
                black_box(terminal.backend_mut().take())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, frames);
criterion_main!(benches);
