//! Temporary composition: the demonstration only.

use signoff::app::{State, StateOptions};
use signoff::domain::{Party, TeamCommand, TeamSettings, settings};
use signoff::llm::scripted::{ScriptedModel, demo};
use signoff::runtime::{LiveBoard, Prompts, RuntimeEnv, Team, open};
use signoff::store::{Durability, FileBackend, TeamStore};
use signoff::tool::{Registry, ShellSettings, guard};
use signoff::tui::{Options, TeamScreen, run, style::Style};
use std::sync::Arc;

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|a| a == guard::ARGUMENT) {
        std::process::exit(guard::run_guard(args));
    }
    let dir = std::path::PathBuf::from("/tmp/signoff-demo-x");
    let _ = std::fs::remove_dir_all(&dir);
    for file in demo::PROJECT {
        let path = dir.join(file.path);
        std::fs::create_dir_all(path.parent().unwrap_or(&dir))?;
        std::fs::write(path, file.text)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let permissions = settings::Permissions { commands: settings::Access::Allow, ..settings::Permissions::default() };
    let env = RuntimeEnv {
        model: Arc::new(ScriptedModel::demo()),
        model_name: "script".into(),
        tools: Registry::with_shell(ShellSettings::guarded()),
        store: TeamStore::new(Arc::new(FileBackend::open(&dir, Durability::Synced)?)),
        settings: TeamSettings { permissions, ..TeamSettings::default() },
        workspace: dir.canonicalize()?.into(),
        prompts: Prompts::default(),
        instructions: None,
        protocol_config: Default::default(),
        live: Arc::new(LiveBoard::default()),
    };
    let handle = runtime.handle().clone();
    let opener = async move {
        let opened = open(env, &handle).map_err(|e| e.to_string())?.ok_or("locked")?;
        opened
            .handle
            .command(Party::Human, TeamCommand::Send { to: "lead".into(), content: demo::GOAL.into() })
            .await
            .map_err(|e| e.to_string())?;
        let team: Arc<dyn Team> = Arc::new(opened.handle);
        Ok::<_, String>(team)
    };
    let options = StateOptions {
        scripted: true,
        provider: "scripted".into(),
        model: "script".into(),
        workspace: "demo".into(),
        ..StateOptions::default()
    };
    let mut screen = TeamScreen { state: State::new(options), style: Style::new("dark", Default::default(), false) };
    runtime.block_on(run(&mut screen, opener, Options::detect(|n| std::env::var(n).ok())))?;
    Ok(())
}
