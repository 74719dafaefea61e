//! What the number of task files costs: the first board after the start, one outside change, a claim.
//!
//! The first two are measured from outside, the program on a pseudo-terminal.
#![allow(clippy::expect_used, clippy::disallowed_methods, reason = "a bench that cannot be set up shall stop, and it measures time")]

#[allow(dead_code, reason = "shared with the tests")]
#[path = "../it/pty.rs"]
mod pty;
mod workspace;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use signoff::domain::{Board, MemberName, TaskId, Timestamp};
use signoff::store::files::{Durability, FileBackend};
use signoff::store::{Expect, PutOf, TeamStore};
use std::sync::Arc;
use std::time::{Duration, Instant};
use workspace::Workspace;

const SIZES: [u64; 2] = [100, 10_000];

fn first_board(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("first board");
    group.sample_size(10);
    for tasks in SIZES {
        let workspace = Workspace::new(tasks);
        let once = || {
            let begun = Instant::now();
            let program = workspace.start("", &[]);
            program.wait_for_bytes(0, b"Task number");
            // Ending it is not part of the figure.
            let time = begun.elapsed();
            drop(program);
            time
        };
        group.bench_function(BenchmarkId::from_parameter(tasks), |bencher| bencher.iter_custom(|times| (0..times).map(|_| once()).sum()));
    }
    group.finish();
}

fn outside_change(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one outside change on the screen");
    group.sample_size(10);
    for tasks in SIZES {
        let workspace = Workspace::new(tasks);
        let program = workspace.start("", &[]);
        program.wait_for_text("Task number");
        let mut letters = ('а'..='я').cycle();
        let mut once = || {
            program.wait_quiet(Duration::from_millis(40));
            // Letters that nothing else on the screen has: no cell keeps its own, so the new words come in one piece.
            let words = letters.next().unwrap_or('ж').to_string().repeat(20);
            let from = program.written();
            let begun = Instant::now();
            workspace.write_task(1, &words);
            program.wait_for_bytes(from, words.as_bytes());
            begun.elapsed()
        };
        group.bench_function(BenchmarkId::from_parameter(tasks), |bencher| bencher.iter_custom(|times| (0..times).map(|_| once()).sum()));
    }
    group.finish();
}

/// A claim as the team makes it: the rule on the board, the file under its lock, the board brought up to date.
fn claim(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("claim");
    group.sample_size(20);
    let alice = MemberName::parse("alice").expect("a name");
    for tasks in SIZES {
        let workspace = Workspace::new(tasks);
        let store = TeamStore::new(Arc::new(FileBackend::open(&workspace.project(), Durability::Buffered).expect("a store")));
        let mut board = Board::default();
        store.tasks().expect("readable").items.into_iter().for_each(|(task, _)| drop(board.insert(Arc::new(task))));
        let id = TaskId(tasks / 2 - tasks / 2 % 3 + 1);
        let free = board.find(id).expect("there").clone();
        let mut once = || {
            let begun = Instant::now();
            board.check_claim(id, &alice).expect("free");
            let (task, revision) = store.claim(id, &alice, Timestamp(0)).expect("claimed");
            board.insert(Arc::new(task));
            let time = begun.elapsed();
            assert!(matches!(store.put_task(&free, Expect::At(revision)), Ok(PutOf::Applied(_))), "given back");
            board.insert(free.clone());
            time
        };
        group.bench_function(BenchmarkId::from_parameter(tasks), |bencher| bencher.iter_custom(|times| (0..times).map(|_| once()).sum()));
    }
    group.finish();
}

criterion_group!(benches, first_board, outside_change, claim);
criterion_main!(benches);
