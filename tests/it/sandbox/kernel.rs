//! What a malicious command would try next: system calls that have opened sandboxes before.

use super::yard::Yard;
use std::process::Command;

/// The real Python, not a shim in front of it.
pub fn python() -> String {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("these tests need python3");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

const PRELUDE: &str = r#"
import ctypes, os, sys, socket, fcntl, mmap, errno, struct, stat
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *a):
    a = [ctypes.c_long(x) if isinstance(x, int) else x for x in a]
    r = libc.syscall(ctypes.c_long(number), *a)
    return r if r >= 0 else -ctypes.get_errno()
def breach(what): print("BREACH", what)
def refused(number, *a, ok=(errno.EPERM, errno.ENOSYS)):
    r = call(number, *a)
    if -r not in ok: breach((number, r))
def shut(path, flags):
    try: os.open(path, flags); breach(path)
    except OSError: pass
"#;

/// Numbers are those of x86-64; elsewhere only the parts without numbers are tried.
const CALLS: &[(&str, &str)] = &[
    ("ptrace of another", "refused(101, 16, os.getppid(), 0, 0)"),
    ("ptrace me", "refused(101, 0, 0, 0, 0)"),
    ("reading another's memory", "refused(310, 1, 0, 0, 0, 0, 0)"),
    ("writing another's memory", "refused(311, 1, 0, 0, 0, 0, 0)"),
    ("taking another's files", "fd = call(434, 1, 0); refused(438, fd, 0, 0)"),
    ("comparing processes", "refused(312, 1, os.getpid(), 0, 0, 0)"),
    ("mount", "refused(165, b'none', b'/tmp', b'tmpfs', 0, None)"),
    ("unmounting a protected folder", "refused(166, os.path.join(os.environ['WS'], '.git').encode(), 2)"),
    ("remounting it for writing", "refused(165, b'none', os.path.join(os.environ['WS'], 'team').encode(), None, 0x1020, None)"),
    (
        "the new mount calls",
        "refused(428, -100, b'/', 1); refused(429, -1, b'', -1, b'', 0); refused(430, b'tmpfs', 0); refused(442, -100, b'/', 0, 0, 0); refused(467, -100, b'/', 1, 0, 0)",
    ),
    ("chroot and pivot_root", "refused(161, b'/tmp'); refused(155, b'/tmp', b'/tmp')"),
    ("unshare", "[refused(272, f) for f in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x08000000)]"),
    ("clone with new users", "r = call(56, 0x10000000 | 17, 0, 0, 0, 0)\nif r == 0: os._exit(0)\nif r != -errno.EPERM: breach(r)"),
    ("clone with new mounts", "r = call(56, 0x20000 | 17, 0, 0, 0, 0)\nif r == 0: os._exit(0)\nif r != -errno.EPERM: breach(r)"),
    ("clone3, whose flags cannot be read", "refused(435, struct.pack('11Q', 0x10000000, *[0]*10), 88, ok=(errno.ENOSYS,))"),
    ("entering a namespace", "fd = os.open('/proc/self/ns/net', os.O_RDONLY); refused(308, fd, 0)"),
    ("io_uring", "refused(425, 8, ctypes.create_string_buffer(256)); refused(426, 0, 0, 0, 0, 0, 0); refused(427, 0, 0, 0, 0)"),
    ("bpf", "refused(321, 0, ctypes.create_string_buffer(128), 128)"),
    ("perf", "refused(298, ctypes.create_string_buffer(128), 0, -1, -1, 0)"),
    ("userfaultfd", "refused(323, 1)"),
    ("keys", "refused(248, b'user', b'x', b'y', 1, -2); refused(250, 0, -4, 0); refused(249, b'user', b'x', None, 0)"),
    ("kernel modules", "refused(175, b'x', 1, b''); refused(313, 0, b'', 0); refused(176, b'x', 0)"),
    ("another kernel", "refused(246, 0, 0, 0, 0); refused(320, -1, -1, 0, None, 0)"),
    (
        "files by number",
        "refused(304, -100, ctypes.create_string_buffer(64), 0); refused(303, -100, b'/tmp', ctypes.create_string_buffer(64), ctypes.create_string_buffer(8), 0)",
    ),
    ("personality", "refused(135, 0x40000)"),
    ("host name, accounting, swap, log", "refused(170, b'x', 1); refused(163, None); refused(167, b'/x', 0); refused(103, 3, None, 0)"),
    ("the second numbering", "refused(0x40000000 + 39, ok=(errno.ENOSYS,)); refused(0x40000000 + 521, 0, 0, 0, 0, ok=(errno.ENOSYS,))"),
    (
        "32-bit calls",
        r#"
pid = os.fork()
if pid == 0:
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    here = ctypes.addressof(ctypes.c_char.from_buffer(page))
    os._exit(7 if ctypes.CFUNCTYPE(ctypes.c_int)(here)() > 0 else 8)
status = os.waitpid(pid, 0)[1]
if not os.WIFSIGNALED(status): breach(status)"#,
    ),
    ("fanotify", "refused(300, 0, 0)"),
    ("i/o ports", "refused(172, 3); refused(173, 0, 1, 1)"),
];

const PLACES: &[(&str, &str)] = &[
    (
        "typing for the person",
        r#"
m, s = os.openpty()
for request in (0x5412, 0x541C, 0x100005412):
    try: fcntl.ioctl(s, request & 0xffffffff, b"x"); breach(request)
    except OSError as e:
        if e.errno != errno.EPERM: breach(e)
if libc.ioctl(s, ctypes.c_ulong(0x100005412), b"x") == 0: breach("upper half")"#,
    ),
    (
        "every family of sockets",
        r#"
for family in range(0, 64):
    for kind in (1, 2, 3, 5, 10):
        try:
            socket.socket(family, kind).close()
            if family not in (1, 2, 10, 16): breach((family, kind))
            if kind == 3 and family in (2, 10): breach(("raw", family))
        except OSError: pass
for protocol in range(1, 24):
    try: socket.socket(16, 3, protocol).close(); breach(("netlink", protocol))
    except OSError: pass"#,
    ),
    (
        "device nodes",
        "\nfor kind in (stat.S_IFCHR, stat.S_IFBLK):\n    try: os.mknod('node', 0o600 | kind, os.makedev(1, 3)); breach(kind)\n    except OSError: pass",
    ),
    (
        "files that run as their owner",
        r#"
open("s", "w").close()
for work in (lambda: os.chmod("s", 0o4755), lambda: os.open("t", os.O_CREAT | os.O_WRONLY, 0o4755), lambda: os.fchmod(os.open("s", 0), 0o4755)):
    try: work(); breach("set-user-id")
    except OSError: pass"#,
    ),
    (
        "becoming somebody else",
        r#"
text = open("/proc/self/status").read()
for line in ("NoNewPrivs:\t1", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "CapPrm:\t0000000000000000", "Seccomp:\t2"):
    if line not in text: breach(line)
for other in (1, 65533):
    try: os.setuid(other); breach("setuid %d" % other)
    except OSError: pass"#,
    ),
    (
        "settings of the kernel",
        r#"
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger", "/proc/sys/kernel/yama/ptrace_scope",
             "/proc/sys/user/max_user_namespaces", "/proc/irq/default_smp_affinity", "/proc/self/uid_map", "/proc/self/attr/current"):
    shut(path, os.O_WRONLY)"#,
    ),
    ("the kernel's memory", "shut('/proc/kcore', os.O_RDONLY); shut('/dev/mem', os.O_RDONLY); shut('/dev/kmsg', os.O_RDONLY)"),
    (
        "/sys and control groups",
        r#"
for path in ("/sys/kernel", "/sys/fs/cgroup", "/sys/power"):
    if os.path.exists(path): breach(path)
shut("/sys/fs/cgroup/cgroup.procs", os.O_WRONLY)"#,
    ),
    ("the memory of the first process", "shut('/proc/1/mem', os.O_RDWR)"),
    (
        "the host's shared memory",
        r#"
ids = [line.split()[1] for line in open("/proc/sysvipc/shm")][1:]
if ids: breach(ids)"#,
    ),
];

fn none_succeeds(attempts: &[(&str, &str)]) {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let python = python();
    let mut broken = Vec::new();
    for (name, code) in attempts {
        let program = format!("{PRELUDE}\n{code}\nprint('tried')");
        let ran = yard.run(Some(&wall), r#"exec "$PY" -c "$PROGRAM""#, &[("PY", &python), ("PROGRAM", &program)]);
        if ran.text.contains("BREACH") || !ran.text.contains("tried") {
            broken.push(format!("{name}: {ran:?}"));
        }
    }
    assert!(broken.is_empty(), "{} of {} got through:\n{}", broken.len(), attempts.len(), broken.join("\n"));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn no_dangerous_system_call_is_let_through() {
    none_succeeds(CALLS);
}

#[test]
fn no_family_of_sockets_device_or_setting_of_the_kernel_is_in_reach() {
    none_succeeds(PLACES);
}
