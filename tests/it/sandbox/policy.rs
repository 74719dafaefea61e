//! What a policy may open and what it may not.

use super::yard::{Yard, plant};
use signoff::tool::sandbox::{Sandbox, SandboxPolicy, Surroundings};

#[test]
fn the_home_folder_and_what_holds_it_are_no_workspace() {
    let yard = Yard::new();
    let above = yard.home.parent().unwrap().to_owned();
    for (folder, word) in [
        (yard.home.clone(), "home"),
        (above, "home"),
        ("/usr/share".into(), "system"),
        ("/root".into(), "cannot be kept"),
        ("relative".into(), "absolute"),
    ] {
        let surroundings = Surroundings { bubblewrap: Vec::new(), ..yard.surroundings.clone() };
        let error = Sandbox::new(SandboxPolicy::new(&folder), surroundings).wrapper().unwrap_err().to_string();
        assert!(error.contains(word), "{}: {error}", folder.display());
    }
}

#[test]
fn a_policy_cannot_open_what_must_stay_shut() {
    let yard = Yard::new();
    let workspace = yard.workspace.clone();
    let folders =
        [workspace.clone(), workspace.join("team/inbox"), workspace.join(".git"), "/etc".into(), "/".into(), yard.home.clone(), "x".into()];
    for folder in folders {
        let policy = SandboxPolicy { extra_write: vec![folder.clone()], ..yard.policy() };
        let wall = Sandbox::new(policy, yard.surroundings.clone());
        assert!(wall.wrapper().is_err(), "{}", folder.display());
    }
    let policy = SandboxPolicy { extra_read: vec![yard.home.clone()], ..yard.policy() };
    assert!(Sandbox::new(policy, yard.surroundings.clone()).wrapper().is_err());
}

#[test]
fn a_policy_opens_single_folders() {
    let yard = Yard::new();
    plant(&yard.outside, &[("shared/data", "data\n"), ("cache/x", "")]);
    let policy =
        SandboxPolicy { extra_read: vec![yard.outside.join("shared")], extra_write: vec![yard.outside.join("cache")], ..yard.policy() };
    let Some(wall) = yard.wall(policy) else { return };
    let ran = yard.run(Some(&wall), r#"cat "$OUT/shared/data"; echo y > "$OUT/cache/x" && echo written; echo y > "$OUT/shared/data" || echo refused; ls "$OUT/precious" || echo hidden; tool"#, &[("PATH", &format!("{}/.local/bin:/usr/bin:/bin", yard.home.display()))]);
    for word in ["data\n", "written", "refused", "hidden", "tool\n"] {
        assert!(ran.text.contains(word), "{word}: {ran:?}");
    }
}

#[test]
fn an_open_network_reaches_servers_and_still_no_sockets_of_the_person() {
    use std::os::linux::net::SocketAddrExt as _;
    let yard = Yard::new();
    let Some(wall) = yard.wall(SandboxPolicy { network: true, ..yard.policy() }) else { return };
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port().to_string();
    let name = format!("signoff-open-{port}");
    let _bus = std::os::unix::net::UnixListener::bind_addr(&std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let script = r#"(exec 3<>"/dev/tcp/127.0.0.1/$PORT") && echo reached; "$PY" -c 'import socket,os; socket.socket(1).connect("\0"+os.environ["NAME"]); print("BREACH")'"#;
    let ran = yard.run(Some(&wall), script, &[("PORT", &port), ("NAME", &name), ("PY", &super::kernel::python())]);
    assert!(ran.text.contains("reached") && !ran.text.contains("BREACH"), "{ran:?}");
}
