//! seccomp: system calls that no build and no test needs, and that have opened sandboxes before.
//!
//! A list of what is refused, not of what is allowed: a member runs arbitrary programs, and the mounts and namespaces
//! are the wall; this keeps the kernel's rarely used doors shut. Refused calls fail with "not permitted"; those that
//! programs have a fallback for fail with "not implemented": `clone3` and `openat2` hide their flags from a filter.

use super::order::Sockets;
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    apply_filter,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Result<T> = std::result::Result<T, Error>;

/// Refused whatever the arguments are.
const REFUSED: [libc::c_long; 55] = [
    // other processes
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    // mounts and roots
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    // namespaces
    libc::SYS_unshare,
    libc::SYS_setns,
    // the kernel itself
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_nfsservctl,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_lookup_dcookie,
    // a second way into every other call
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // keys of the person
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // files by number, past every path
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // clock, names, terminal
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    // memory of other nodes and processes
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
];
/// Newer calls that the constants' crate does not know yet: `open_tree_attr`.
const REFUSED_BY_NUMBER: [i64; 1] = [467];
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: [libc::c_long; 6] =
    [libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS__sysctl, libc::SYS_uselib, libc::SYS_ustat];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: [libc::c_long; 0] = [];

/// Namespaces that `clone` could make.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// Terminal requests that type for the person, paste, or load code into the kernel.
const REQUESTS: [u64; 3] = [0x5412, 0x541C, 0x5423];
/// Personalities that ordinary programs ask for.
const PERSONALITIES: [u64; 5] = [0, 0x0008, 0x0002_0000, 0x0002_0008, 0xFFFF_FFFF];

/// Restricts this thread and all that it starts. `unix`: whether unix sockets may be made.
pub(super) fn restrict(sockets: Sockets, unix: bool) -> Result<()> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    if cfg!(target_arch = "x86_64") {
        apply_filter(&no_second_numbering())?;
    }
    let absent: Rules = [(libc::SYS_clone3, Vec::new()), (libc::SYS_openat2, Vec::new())].into();
    apply(absent, libc::ENOSYS, arch)?;
    apply(refused(sockets, unix)?, libc::EPERM, arch)
}

fn apply(rules: Rules, errno: i32, arch: TargetArch) -> Result<()> {
    let action = SeccompAction::Errno(errno.unsigned_abs());
    let program: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()?;
    apply_filter(&program)
}

fn refused(sockets: Sockets, unix: bool) -> Result<Rules> {
    let plain = REFUSED.iter().chain(&REFUSED_HERE).copied().chain(REFUSED_BY_NUMBER);
    let mut rules: Rules = plain.map(|call| (call, Vec::new())).collect();
    let bit = |mask: i32| mask.unsigned_abs().into();
    let spaces = NAMESPACES.iter().map(|space| all(&[(0, has(bit(*space)))]));
    rules.insert(libc::SYS_clone, spaces.collect::<Result<_>>()?);
    let requests = REQUESTS.iter().map(|request| all(&[(1, is(*request))]));
    rules.insert(libc::SYS_ioctl, requests.collect::<Result<_>>()?);
    let odd: Vec<_> = PERSONALITIES.iter().map(|usual| (0, not(*usual))).collect();
    rules.insert(libc::SYS_personality, vec![all(&odd)?]);
    rules.insert(libc::SYS_socket, socket_rules(sockets, unix)?);
    rules.insert(libc::SYS_socketpair, vec![all(&[(0, not(bit(libc::AF_UNIX)))])?]);
    files(&mut rules)?;
    Ok(rules)
}

/// An empty list refuses every socket.
fn socket_rules(sockets: Sockets, unix: bool) -> Result<Vec<SeccompRule>> {
    let number = |value: i32| u64::from(value.unsigned_abs());
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(number);
    match sockets {
        Sockets::Pairs => return Ok(Vec::new()),
        Sockets::Own | Sockets::Host => {}
    }
    let route = number(libc::AF_NETLINK);
    let raw = masked(0xf, number(libc::SOCK_RAW));
    let packet = masked(0xf, 10);
    let mut rules = vec![
        all(&families.map(|family| (0, not(family))))?,
        all(&[(0, not(route)), (1, raw)])?,
        all(&[(0, not(route)), (1, packet)])?,
        all(&[(0, is(route)), (2, not(0))])?,
    ];
    if !unix {
        rules.push(all(&[(0, is(number(libc::AF_UNIX)))])?);
    }
    Ok(rules)
}

/// No device nodes, no files that run as their owner.
fn files(rules: &mut Rules) -> Result<()> {
    let owner = has(0o4000);
    let creates = has(u64::from(libc::O_CREAT.unsigned_abs()));
    let nodes = |at: u8| -> Result<Vec<SeccompRule>> {
        let kinds = [masked(0o170_000, 0o020_000), masked(0o170_000, 0o060_000), owner.clone()];
        kinds.into_iter().map(|kind| all(&[(at, kind)])).collect()
    };
    rules.insert(libc::SYS_mknodat, nodes(2)?);
    rules.insert(libc::SYS_fchmod, vec![all(&[(1, owner.clone())])?]);
    rules.insert(libc::SYS_fchmodat, vec![all(&[(2, owner.clone())])?]);
    rules.insert(libc::SYS_fchmodat2, vec![all(&[(2, owner.clone())])?]);
    rules.insert(libc::SYS_openat, vec![all(&[(2, creates.clone()), (3, owner.clone())])?]);
    #[cfg(target_arch = "x86_64")]
    {
        rules.insert(libc::SYS_mknod, nodes(1)?);
        rules.insert(libc::SYS_chmod, vec![all(&[(1, owner.clone())])?]);
        rules.insert(libc::SYS_creat, vec![all(&[(1, owner.clone())])?]);
        rules.insert(libc::SYS_open, vec![all(&[(1, creates), (2, owner)])?]);
    }
    Ok(())
}

#[derive(Clone)]
struct Test(SeccompCmpOp, u64);

fn is(value: u64) -> Test {
    Test(SeccompCmpOp::Eq, value)
}

fn not(value: u64) -> Test {
    Test(SeccompCmpOp::Ne, value)
}

fn has(bits: u64) -> Test {
    masked(bits, bits)
}

fn masked(mask: u64, value: u64) -> Test {
    Test(SeccompCmpOp::MaskedEq(mask), value)
}

/// All tests hold. The kernel reads the lower half of such arguments only, so that is what is compared.
fn all(tests: &[(u8, Test)]) -> Result<SeccompRule> {
    let condition = |(at, Test(operator, value)): &(u8, Test)| {
        SeccompCondition::new(*at, SeccompCmpArgLen::Dword, operator.clone(), *value).map_err(Error::Backend)
    };
    let conditions: Vec<_> = tests.iter().map(condition).collect::<Result<_>>()?;
    SeccompRule::new(conditions).map_err(Error::Backend)
}

/// On x86-64 every call has a second number (the x32 interface), which a list of numbers would miss: shut as a whole.
fn no_second_numbering() -> BpfProgram {
    let step = |code, jt, jf, k| seccompiler::sock_filter { code, jt, jf, k };
    let refuse = 0x0005_0000 | libc::ENOSYS.unsigned_abs();
    vec![step(0x20, 0, 0, 0), step(0x35, 0, 1, 0x4000_0000), step(0x06, 0, 0, refuse), step(0x06, 0, 0, 0x7fff_0000)]
}
