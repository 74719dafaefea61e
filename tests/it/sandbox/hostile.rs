//! What a malicious command would try first: files, mail, approvals, keys, other processes, sockets.
//!
//! Each attempt prints BREACH when it succeeds. Those that are harmless are run without a wall too, where they must
//! succeed: an attempt that fails for a reason of its own proves nothing.

use super::yard::Yard;
use std::io::Read as _;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Child, Command, Stdio};

enum Bare {
    /// Succeeds without a wall.
    Succeeds,
    /// Depends on the machine, or would do harm.
    NotTried,
}
use Bare::{NotTried, Succeeds};

const FILES: &[(&str, Bare, &str)] = &[
    ("write outside by path", Succeeds, r#"echo x > "$OUT/a" && echo BREACH"#),
    ("write outside by ..", Succeeds, r#"echo x > "$WS/../outside/a" && echo BREACH"#),
    ("write outside through a link", Succeeds, r#"ln -s "$OUT" link && echo x > link/a && echo BREACH"#),
    ("write outside through a hard link", Succeeds, r#"ln "$OUT/precious" hard && echo x >> hard && echo BREACH"#),
    ("write outside through /proc/self/root", Succeeds, r#"echo x > "/proc/self/root$OUT/a" && echo BREACH"#),
    ("write outside through /proc/1/root", NotTried, r#"echo x > "/proc/1/root$OUT/a" && echo BREACH"#),
    ("write outside through /proc/self/cwd", Succeeds, r#"echo x > "/proc/self/cwd/../outside/a" && echo BREACH"#),
    ("read outside", Succeeds, r#"cat "$OUT/precious" && echo BREACH"#),
    ("list the folder above", Succeeds, r#"ls "$WS/.." | grep -q outside && echo BREACH"#),
    ("move a file of mine out", Succeeds, r#"echo x > m && mv m "$OUT/m" && echo BREACH"#),
    ("rename the workspace", Succeeds, r#"mv "$WS" "$WS.old" && mv "$WS.old" "$WS" && echo BREACH"#),
    ("write a system program", NotTried, r#"(: >> /usr/bin/env) && echo BREACH"#),
    ("write /etc/passwd", NotTried, r#"(: >> /etc/passwd) && echo BREACH"#),
    ("preload into other programs", NotTried, r#"(echo evil.so >> /etc/ld.so.preload) && echo BREACH"#),
    (
        "replace what stands inside the wall",
        NotTried,
        r#"for f in /run/signoff/*; do (: >> "$f") && echo BREACH; rm -f "$f" && echo BREACH; done"#,
    ),
    ("forge mail", Succeeds, r#"echo '{"from":"human"}' >> team/inbox/lead.jsonl && echo BREACH"#),
    ("forge an approval", Succeeds, r#"echo '{"verdict":"approved"}' > team/requests/cafe0001.json && echo BREACH"#),
    ("answer a pending request", Succeeds, r#"echo '{"verdict":"approved"}' > new && mv new team/requests/dead0001.json && echo BREACH"#),
    ("take the team's folder away", Succeeds, r#"mv team old && mkdir team && echo BREACH"#),
    ("remove the team's folder", Succeeds, r#"rm -rf team && [ ! -e team/inbox ] && echo BREACH"#),
    ("edit a task", Succeeds, r#"echo '{"status":"completed"}' > .tasks/task_1.json && echo BREACH"#),
    ("add a task", Succeeds, r#"echo '{}' > .tasks/task_9.json && echo BREACH"#),
    ("edit a task through a hard link", Succeeds, r#"ln .tasks/task_1.json t && echo x >> t && echo BREACH"#),
    ("plant a hook", Succeeds, r#"printf '#!/bin/sh\n' > .git/hooks/pre-commit && echo BREACH"#),
    ("point git at other hooks", Succeeds, r#"git config core.hooksPath /evil && echo BREACH"#),
    ("let git run a monitor", Succeeds, r#"git config core.fsmonitor ./evil && echo BREACH"#),
    ("take git's folder away", Succeeds, r#"mv .git g && cp -r g .git && echo BREACH"#),
    ("make a commit unasked", Succeeds, r#"git -c user.name=a -c user.email=a commit -q --allow-empty -m x && echo BREACH"#),
    ("settings of this program", Succeeds, r#"echo 'x=1' > .signoff/config.toml && echo BREACH"#),
];

const SECRETS: &[(&str, Bare, &str)] = &[
    ("ssh keys", Succeeds, r#"cat "$HOME/.ssh/id_ed25519" && echo BREACH"#),
    ("ssh keys of another home", Succeeds, r#"cat "$OUT/.ssh/id_ed25519" && echo BREACH"#),
    ("cloud keys", Succeeds, r#"cat "$HOME/.aws/credentials" && echo BREACH"#),
    ("settings with tokens", Succeeds, r#"cat "$HOME/.config/gh/hosts.yml" && echo BREACH"#),
    ("registry token", Succeeds, r#"cat "$HOME/.cargo/credentials.toml" && echo BREACH"#),
    ("netrc and history", Succeeds, r#"cat "$HOME/.netrc" "$HOME/.bash_history" && echo BREACH"#),
    ("keyring", Succeeds, r#"cat "$HOME/.local/share/keyrings/login.keyring" && echo BREACH"#),
    ("the real home", NotTried, r#"for h in /root /home/*; do ls -A "$h"/.ssh "$h"/.gnupg "$h"/.config && echo BREACH; done"#),
    (
        "shadow and host keys",
        NotTried,
        r#"cat /etc/shadow && echo BREACH; ls /etc/ssh/ssh_host* && echo BREACH; ls /etc/ssl/private/* && echo BREACH"#,
    ),
    (
        "an open file of the parents",
        NotTried,
        r#"for f in /proc/$$/fd/*; do case ${f##*/} in 0|1|2|255) ;; *) [ -e "$f" ] && echo "BREACH $f $(readlink $f)";; esac; done"#,
    ),
    ("environment of another process", Succeeds, r#"tr '\0' '\n' < "/proc/$VICTIM/environ" | grep VICTIMS_SECRET && echo BREACH"#),
    ("environment of every process", Succeeds, r#"cat /proc/[0-9]*/environ | tr '\0' '\n' | grep VICTIMS_SECRET && echo BREACH"#),
    ("the host's processes", Succeeds, r#"[ -d "/proc/$VICTIM" ] && echo BREACH"#),
    ("signal another process", Succeeds, r#"kill -0 "$VICTIM" && echo BREACH"#),
    (
        "disks and memory",
        NotTried,
        r#"ls /dev/mem /dev/kmsg /dev/sd* /dev/vd* /dev/nvme* /dev/fuse /dev/kvm /dev/net/tun 2>/dev/null && echo BREACH"#,
    ),
    ("terminals of others", NotTried, r#"ls /dev/pts | grep '[0-9]' && echo BREACH; (: > /dev/tty) && echo BREACH"#),
];

const SOCKETS: &[(&str, Bare, &str)] = &[
    ("a server on the host's loopback", Succeeds, r#"(exec 3<>"/dev/tcp/127.0.0.1/$PORT") && echo BREACH"#),
    ("the outer network", NotTried, r#"(exec 3<>/dev/udp/192.0.2.1/53 && echo x >&3) && echo BREACH"#),
    (
        "an abstract socket of the host",
        Succeeds,
        r#""$PY" -c 'import socket,os; socket.socket(1).connect("\0"+os.environ["ABSTRACT"]); print("BREACH")'"#,
    ),
    (
        "a socket in a folder",
        Succeeds,
        r#""$PY" -c 'import socket,os; socket.socket(1).connect(os.environ["OUT"]+"/agent"); print("BREACH")'"#,
    ),
    (
        "the usual sockets",
        NotTried,
        r#"for s in /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket /run/user/*/bus /run/containerd/*.sock /tmp/ssh-*/agent.* /tmp/.X11-unix/* /run/systemd/private; do [ -e "$s" ] && echo "BREACH $s"; done; [ -n "$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$DISPLAY" ] && echo BREACH"#,
    ),
    ("another network card", NotTried, r#"[ "$(grep -c : /proc/net/dev)" = 1 ] || echo BREACH"#),
];

/// A process of the person, with a secret in its environment, and servers that wait for guests.
struct Host {
    victim: Child,
    _server: TcpListener,
    _agent: UnixListener,
    _abstract: UnixListener,
    variables: Vec<(&'static str, String)>,
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

fn host(yard: &Yard) -> Host {
    let victim = Command::new("sleep").arg("600").env("VICTIMS_SECRET", "1").stdin(Stdio::null()).spawn().unwrap();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let agent = UnixListener::bind(yard.outside.join("agent")).unwrap();
    let name = format!("signoff-test-{}", victim.id());
    let unnamed = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let variables = vec![
        ("VICTIM", victim.id().to_string()),
        ("PORT", server.local_addr().unwrap().port().to_string()),
        ("ABSTRACT", name),
        ("PY", super::kernel::python()),
        ("SSH_AUTH_SOCK", "/tmp/agent".into()),
    ];
    Host { victim, _server: server, _agent: agent, _abstract: unnamed, variables }
}

fn none_succeeds(attempts: &[(&str, Bare, &str)]) {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    // The first command makes what is missing.
    assert_eq!(yard.run(Some(&wall), "true", &[]).code, Some(0));
    let mut around = host(&yard);
    let before = yard.picture();
    let mut broken = Vec::new();
    for (name, bare, script) in attempts {
        let variables: Vec<(&str, &str)> = around.variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let ran = yard.run(Some(&wall), script, &variables);
        if ran.text.contains("BREACH") || ran.text.contains("sandbox could not be built") || ran.code == Some(126) {
            broken.push(format!("{name}: {ran:?}"));
        }
        if yard.picture() != before {
            broken.push(format!("{name}: something outside or protected has changed"));
            break;
        }
        if matches!(bare, Succeeds) {
            let second = Yard::new();
            let there = host(&second);
            let variables: Vec<(&str, &str)> = there.variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let ran = second.run(None, script, &variables);
            assert!(ran.text.contains("BREACH"), "{name} fails without a wall too, so it proves nothing: {ran:?}");
        }
    }
    assert!(broken.is_empty(), "{} of {} got through:\n{}", broken.len(), attempts.len(), broken.join("\n"));
    assert!(around.victim.try_wait().unwrap().is_none(), "the victim was killed");
}

#[test]
fn no_command_writes_outside_or_forges_the_teams_files() {
    none_succeeds(FILES);
}

#[test]
fn no_command_reads_secrets_or_reaches_other_processes() {
    none_succeeds(SECRETS);
}

#[test]
fn no_command_reaches_a_server_or_an_agent_of_the_host() {
    none_succeeds(SOCKETS);
}

/// A file that is open in this program when commands are started.
#[test]
fn files_that_the_program_was_started_with_do_not_reach_commands() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let wrapper: Vec<String> = wall.wrapper().unwrap().iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let look = r#"cat <&11; cat /proc/1/fd/11 /proc/1/fd/12/precious; cat <&12; ls /proc/1/fd; echo looked"#;
    let script = r#"exec 11<"$OUT/precious" 12<"$OUT"; "$@""#;
    let mut command = Command::new("/bin/bash");
    command.args(["-c", script, "bash"]).args(&wrapper).args(["/bin/bash", "-c", look]);
    let output = command.env("OUT", &yard.outside).current_dir(&yard.workspace).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("looked") && !text.contains("precious"), "{output:?}");
    assert!(!text.lines().any(|line| line == "11" || line == "12"), "{text}");
}

#[test]
fn what_a_command_writes_to_its_home_and_memory_disk_stays_private() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    yard.run(Some(&wall), "true", &[]);
    let before = yard.picture();
    let ran = yard.run(
        Some(&wall),
        r#"echo evil >> ~/.bashrc; mkdir -p ~/.ssh; echo k > ~/.ssh/authorized_keys; echo x > /dev/shm/signoff-test-shm; ls ~/.ssh"#,
        &[],
    );
    assert_eq!((ran.code, ran.text.trim()), (Some(0), "authorized_keys"));
    assert_eq!(yard.picture(), before);
    assert!(!std::path::Path::new("/dev/shm/signoff-test-shm").exists());
    assert_eq!(yard.run(Some(&wall), "cat ~/.bashrc", &[]).code, Some(1), "a home is new for each command");
}

#[test]
fn killing_everything_kills_only_what_is_inside() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let mut around = host(&yard);
    yard.run(Some(&wall), "trap '' TERM; kill -TERM -1; kill -KILL -1", &[]);
    yard.run(Some(&wall), "kill -KILL 0", &[]);
    assert!(around.victim.try_wait().unwrap().is_none());
}

#[test]
fn nothing_runs_on_after_its_command_however_it_hides() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let hide = r#"env -i PATH="$PATH" setsid --fork bash -c 'trap "" TERM HUP; echo up > ready; sleep 2; echo late > late' >/dev/null 2>&1 </dev/null
        while [ ! -s ready ]; do sleep 0.02; done; echo done"#;
    let ran = yard.run(Some(&wall), hide, &[]);
    assert!(ran.text.contains("done") && ran.text.contains("left running were ended"), "{ran:?}");
    std::thread::sleep(std::time::Duration::from_millis(2500));
    assert!(!yard.workspace.join("late").exists());
}

#[test]
fn a_command_cannot_hold_the_teams_locks() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let wrapper = wall.wrapper().unwrap();
    let script = "exec 7<team/.lock; flock 7 && ls -A team/locks; echo held; sleep 30";
    let mut holder = Command::new(&wrapper[0])
        .args(&wrapper[1..])
        .args(["/bin/bash", "-c", script])
        .current_dir(&yard.workspace)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut pipe = holder.stdout.take().unwrap();
    let mut piece = [0; 256];
    while !said.contains("held") {
        let count = pipe.read(&mut piece).unwrap();
        assert!(count > 0, "{said}");
        said.push_str(&String::from_utf8_lossy(&piece[..count]));
    }
    assert!(!said.contains("requests"), "{said}");
    for lock in ["team/.lock", ".tasks/.lock", "team/locks/requests"] {
        std::fs::File::open(yard.workspace.join(lock)).unwrap().try_lock().unwrap();
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
}

#[test]
fn a_repository_cannot_be_made_where_there_is_none() {
    let yard = Yard::new();
    std::fs::remove_dir_all(yard.workspace.join(".git")).unwrap();
    std::fs::remove_dir_all(yard.workspace.join(".signoff")).unwrap();
    let Some(wall) = yard.usual() else { return };
    let ran = yard.run(
        Some(&wall),
        "git init -q . && echo BREACH; mkdir -p .git/hooks && echo BREACH; mkdir .signoff/x && echo BREACH; rmdir .git && echo BREACH",
        &[],
    );
    assert!(!ran.text.contains("BREACH"), "{ran:?}");
    drop(wall);
    assert!(
        !yard.workspace.join(".git").exists() && !yard.workspace.join(".signoff").exists(),
        "what was made to keep others out goes with the sandbox"
    );
}

#[test]
fn a_link_in_place_of_a_protected_folder_is_refused() {
    for name in ["team", ".git", ".tasks", ".signoff"] {
        let yard = Yard::new();
        let Some(wall) = yard.usual() else { return };
        std::fs::remove_dir_all(yard.workspace.join(name)).unwrap();
        std::os::unix::fs::symlink(&yard.outside, yard.workspace.join(name)).unwrap();
        let error = wall.wrapper().unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("link"), "{error}");
    }
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    std::fs::remove_file(yard.workspace.join("team/.lock")).unwrap();
    std::os::unix::fs::symlink(yard.outside.join("made"), yard.workspace.join("team/.lock")).unwrap();
    assert!(wall.wrapper().is_err() && !yard.outside.join("made").exists());
}
