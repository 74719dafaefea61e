//! The board by keys: complete, release, delete.

use super::*;

#[test]
fn tasks_are_completed_released_and_deleted_by_keys() {
    let world = World::new();
    let mut pty = world.open();
    for subject in ["First", "Second", "Slow third"] {
        add_task(&mut pty, subject);
        wait_task(&pty, subject, "ready");
    }
    pty.send("3gc");
    wait_task(&pty, "First", "done");
    pty.send("jd");
    pty.wait_for_text("Delete #2");
    pty.send("y");
    pty.wait_for("the task to go", |screen| task_row(&screen.contents(), "Second").is_none());
    assert!(!world.work.join(".tasks/task_2.json").exists());
    spawn(&mut pty, "bob");
    wait_task(&pty, "Slow third", "doing");
    pty.send("3G");
    pty.send("u");
    let store = world.store();
    wait("the note", || {
        let (task, _) = store.task(signoff::domain::TaskId(3)).unwrap()?;
        task.notes.iter().any(|note| note.by == signoff::domain::Party::Human && note.text.contains("released")).then_some(())
    });
    quit_now(&world, pty);
}
