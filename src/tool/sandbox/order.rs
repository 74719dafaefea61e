//! What the inner side of the wall is told, as arguments: written by the app, read by the same program behind the wall.

use std::ffi::OsString;
use std::path::PathBuf;

/// First argument: tells two versions of this program apart, should it be replaced while it runs.
const VERSION: &str = "1";

/// Which sockets a command may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Unix and internet ones: the network is its own.
    Own,
    /// The same, on the host's network: abstract unix sockets are the host's too, and are refused where they cannot be
    /// told apart.
    Host,
    /// Connected pairs only.
    Pairs,
}

/// How the command is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// As a child; this process is the first of its namespace and ends what the command leaves behind.
    Below,
    /// In this process's place.
    Instead,
}

/// Everything the inner side needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) start: Start,
    pub(super) sockets: Sockets,
    /// Whether Landlock is the only thing between the command and the files: then it must be there.
    pub(super) strict: bool,
    /// Whether to tell on standard error what is enforced.
    pub(super) report: bool,
    /// The folder for temporary files.
    pub(super) tmp: PathBuf,
    /// Folders whose names may be listed, with all below.
    pub(super) list: Vec<PathBuf>,
    /// What may be read and run, with all below.
    pub(super) read: Vec<PathBuf>,
    /// What may be written, with all below.
    pub(super) write: Vec<PathBuf>,
    /// Program and arguments.
    pub(super) command: Vec<OsString>,
}

impl Order {
    /// As arguments, the command last.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let start = match self.start {
            Start::Below => "below",
            Start::Instead => "instead",
        };
        let sockets = match self.sockets {
            Sockets::Own => "own",
            Sockets::Host => "host",
            Sockets::Pairs => "pairs",
        };
        let mut all: Vec<OsString> = vec![VERSION.into(), "start".into(), start.into(), "sockets".into(), sockets.into()];
        all.extend(["tmp".into(), self.tmp.clone().into_os_string()]);
        if self.strict {
            all.push("strict".into());
        }
        if self.report {
            all.push("report".into());
        }
        for (word, paths) in [("list", &self.list), ("read", &self.read), ("write", &self.write)] {
            all.extend(paths.iter().flat_map(|path| [word.into(), path.clone().into_os_string()]));
        }
        all.push("--".into());
        all.extend(self.command.iter().cloned());
        all
    }

    /// From arguments.
    pub(super) fn parse(arguments: Vec<OsString>) -> Result<Self, String> {
        let mut rest = arguments.into_iter();
        if rest.next().is_none_or(|version| version != VERSION) {
            return Err("this program was replaced by another version while it ran: start it again".into());
        }
        let mut order = Self {
            start: Start::Instead,
            sockets: Sockets::Pairs,
            strict: false,
            report: false,
            tmp: PathBuf::from("/tmp"),
            list: Vec::new(),
            read: Vec::new(),
            write: Vec::new(),
            command: Vec::new(),
        };
        while let Some(word) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{} has no value", word.to_string_lossy()));
            match word.to_string_lossy().as_ref() {
                "start" if value()? == "below" => order.start = Start::Below,
                "start" => order.start = Start::Instead,
                "sockets" => order.sockets = sockets(&value()?)?,
                "strict" => order.strict = true,
                "report" => order.report = true,
                "tmp" => order.tmp = value()?.into(),
                "list" => order.list.push(value()?.into()),
                "read" => order.read.push(value()?.into()),
                "write" => order.write.push(value()?.into()),
                "--" => break,
                other => return Err(format!("{other:?} is not understood")),
            }
        }
        order.command = rest.collect();
        if order.command.is_empty() { Err("no command was given".into()) } else { Ok(order) }
    }
}

fn sockets(word: &std::ffi::OsStr) -> Result<Sockets, String> {
    match word.to_string_lossy().as_ref() {
        "own" => Ok(Sockets::Own),
        "host" => Ok(Sockets::Host),
        "pairs" => Ok(Sockets::Pairs),
        other => Err(format!("{other:?} are no sockets")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_survives_the_way_through_arguments() {
        for (start, sockets) in [(Start::Below, Sockets::Own), (Start::Instead, Sockets::Pairs), (Start::Below, Sockets::Host)] {
            let order = Order {
                start,
                sockets,
                strict: start == Start::Instead,
                report: true,
                tmp: "/tmp/x y".into(),
                list: vec!["/w".into()],
                read: vec!["/usr".into(), "/--".into()],
                write: vec!["/w/a".into()],
                command: vec!["/bin/sh".into(), "--".into(), "write".into()],
            };
            assert_eq!(Order::parse(order.arguments()), Ok(order));
        }
        assert!(Order::parse(vec!["2".into()]).unwrap_err().contains("replaced"));
    }
}
