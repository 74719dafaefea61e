//! The statements of a syntax tree: which simple commands they run, and which files they write.
//!
//! Every kind of node that is taken is named here; all others end in [`Unsure`]. Between the parts of a statement there may
//! be white space and nothing else, so that no character of the text goes unread.

use super::part::{Part, Unsure};
use super::word::{Word, Words};
use tree_sitter::Node;

/// Words that begin something else than a simple command, run their arguments as code, or change what later words mean.
const NO_PROGRAMS: [&str; 51] = [
    "if",
    "then",
    "elif",
    "else",
    "fi",
    "for",
    "while",
    "until",
    "do",
    "done",
    "case",
    "esac",
    "select",
    "function",
    "coproc",
    "in",
    "!",
    "{",
    "}",
    "[[",
    "((",
    "eval",
    "source",
    ".",
    "exec",
    "trap",
    "alias",
    "unalias",
    "set",
    "export",
    "enable",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "read",
    "mapfile",
    "readarray",
    "let",
    "getopts",
    "shopt",
    "bind",
    "complete",
    "compgen",
    "hash",
    "fc",
    "history",
    "caller",
    "disown",
    "suspend",
];
/// Signs and keywords between the parts of statements.
const SIGNS: [&str; 32] = [
    ";", ";;", ";&", ";;&", "&", "&&", "|", "|&", "||", "\n", "(", ")", "{", "}", "$(", "`", "<(", ">(", "!", "if", "then", "elif", "else",
    "fi", "while", "until", "do", "done", "for", "in", "case", "esac",
];

/// Statements that a line's end, and so a comment, ends: the grammar goes on where a comment is followed by `\` and a line's
/// end, the shell does not.
const ONE_LINE: [&str; 7] = [
    "command",
    "command_name",
    "redirected_statement",
    "file_redirect",
    "herestring_redirect",
    "variable_assignment",
    "variable_assignments",
];

pub(super) struct Reader<'a, 'tree> {
    words: Words<'a, 'tree>,
    waiting: Vec<Node<'tree>>,
    parts: &'a mut Vec<Part>,
    documents: usize,
}

impl<'a, 'tree> Reader<'a, 'tree> {
    pub(super) fn new(source: &'a str, parts: &'a mut Vec<Part>) -> Self {
        Self { words: Words { source, nested: Vec::new() }, waiting: Vec::new(), parts, documents: 0 }
    }

    /// Reads all statements below `root`, without recursion: a text may nest them as deep as it likes.
    pub(super) fn read(mut self, root: Node<'tree>) -> Result<(), Unsure> {
        self.blank(0, root.start_byte())?;
        self.blank(root.end_byte(), self.words.source.len())?;
        self.waiting.push(root);
        while let Some(node) = self.waiting.pop() {
            self.node(node)?;
            // In the order of the text, for whoever reads the parts.
            self.waiting.extend(self.words.nested.drain(..).rev());
        }
        Ok(())
    }

    fn blank(&self, from: usize, to: usize) -> Result<(), Unsure> {
        let between = self.words.source.get(from..to).ok_or(Unsure("characters that are cut"))?.replace("\\\n", "");
        if between.chars().all(|c| matches!(c, ' ' | '\t' | '\n')) { Ok(()) } else { Err(Unsure("characters that belong nowhere")) }
    }

    fn breaks(&self, from: usize, to: usize) -> bool {
        self.words.source.get(from..to).is_none_or(|between| between.replace("\\\n", "").contains('\n'))
    }

    /// The children of a node, when nothing but white space and comments stands between them.
    fn children(&self, node: Node<'tree>) -> Result<Vec<Node<'tree>>, Unsure> {
        let mut cursor = node.walk();
        let all: Vec<Node<'tree>> = node.children(&mut cursor).collect();
        let mut at = node.start_byte();
        let one_line = ONE_LINE.contains(&node.kind());
        for child in &all {
            self.blank(at, child.start_byte())?;
            if one_line && (child.kind() == "comment" || self.breaks(at, child.start_byte())) {
                return Err(Unsure("a command over several lines"));
            }
            at = child.end_byte();
            if child.kind() == "comment" {
                let before = self.words.source.get(..child.start_byte()).and_then(|text| text.chars().next_back());
                if before.is_some_and(|c| !c.is_whitespace() && !matches!(c, ';' | '&' | '|' | '(' | ')')) {
                    return Err(Unsure("a comment that is none"));
                }
            }
        }
        self.blank(at, node.end_byte())?;
        Ok(all.into_iter().filter(|child| child.kind() != "comment").collect())
    }

    fn node(&mut self, node: Node<'tree>) -> Result<(), Unsure> {
        match node.kind() {
            "command" => self.command(node, Part::default()),
            "redirected_statement" => self.redirected(node),
            "variable_assignment" => {
                let word = self.assignment(node)?;
                self.parts.push(Part { words: vec![word], writes: Vec::new() });
                Ok(())
            }
            "for_statement" => self.loop_over(node),
            "case_statement" | "case_item" => self.choice(node),
            "function_definition" => self.function(node),
            "program"
            | "list"
            | "pipeline"
            | "subshell"
            | "compound_statement"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "do_group"
            | "negated_command"
            | "command_substitution"
            | "process_substitution"
            | "variable_assignments" => self.statements(node),
            _ => Err(Unsure("shell grammar that is not read")),
        }
    }

    /// Looks at what stands in a group: signs, and statements for later.
    fn statements(&mut self, node: Node<'tree>) -> Result<(), Unsure> {
        let children = self.children(node)?;
        if matches!(node.kind(), "command_substitution" | "process_substitution") && children.iter().any(|c| c.kind() == "file_redirect") {
            return Err(Unsure("a substitution that reads a file"));
        }
        for child in children.into_iter().rev() {
            self.sign_or_statement(child, node.kind())?;
        }
        Ok(())
    }

    fn sign_or_statement(&mut self, child: Node<'tree>, of: &str) -> Result<(), Unsure> {
        let in_choice = of == "case_item";
        match child.is_named() {
            true => self.waiting.push(child),
            false if matches!(child.kind(), ";;" | ";&" | ";;&") && !in_choice => return Err(Unsure("shell grammar that is not read")),
            false if SIGNS.contains(&child.kind()) => {}
            false => return Err(Unsure("shell grammar that is not read")),
        }
        Ok(())
    }

    /// `NAME=value`, as one word.
    fn assignment(&mut self, node: Node<'tree>) -> Result<Word, Unsure> {
        let name = node.child_by_field_name("name").filter(|name| name.kind() == "variable_name");
        let name = name.ok_or(Unsure("a variable with an index"))?;
        let value = node.child_by_field_name("value");
        let start = self.words.source.get(node.start_byte()..value.map_or(node.end_byte(), |value| value.start_byte()));
        let start = start.unwrap_or_default().to_owned();
        let named = self.words.source.get(name.byte_range()).unwrap_or_default();
        if ![format!("{named}="), format!("{named}+=")].contains(&start) || value.is_some_and(|value| value.end_byte() != node.end_byte()) {
            return Err(Unsure("a variable that is not plain"));
        }
        let word = value.map(|value| self.words.read(value)).transpose()?.unwrap_or_default();
        Ok(word.after(&start))
    }

    fn command(&mut self, node: Node<'tree>, mut part: Part) -> Result<(), Unsure> {
        let mut named = false;
        let children = self.children(node)?;
        self.check_apart(&children)?;
        for child in children {
            match child.kind() {
                "variable_assignment" if !named => part.words.push(self.assignment(child)?),
                "command_name" => {
                    let [name] = self.children(child)?[..] else { return Err(Unsure("a program name that is not plain")) };
                    part.words.push(self.program(name)?);
                    named = true;
                }
                "file_redirect" => self.redirect(child, &mut part)?,
                "herestring_redirect" => self.here_string(child)?,
                _ if named => part.words.push(self.words.read(child)?),
                _ => return Err(Unsure("shell grammar that is not read")),
            }
        }
        if !named {
            return Err(Unsure("a redirection without a command"));
        }
        self.parts.push(part);
        Ok(())
    }

    /// Words must not touch: the shell would take them for one.
    fn check_apart(&self, children: &[Node<'tree>]) -> Result<(), Unsure> {
        let is_sign = |node: &Node<'tree>| matches!(node.kind(), "file_redirect" | "herestring_redirect");
        for pair in children.windows(2) {
            let [left, right] = pair else { continue };
            let apart = right.start_byte() > left.end_byte()
                && self.words.source.get(left.end_byte()..right.start_byte()).is_some_and(|gap| gap.contains([' ', '\t']));
            let braced = self.words.source.get(..left.end_byte()).is_some_and(|text| text.ends_with('}'));
            if !apart && (braced || !(is_sign(left) || is_sign(right))) {
                return Err(Unsure("words that touch"));
            }
        }
        Ok(())
    }

    fn program(&mut self, node: Node<'tree>) -> Result<Word, Unsure> {
        let word = self.words.read(node)?;
        let Some(name) = word.known().filter(|_| !word.expands) else { return Err(Unsure("a program that is not named")) };
        if name.is_empty() {
            return Err(Unsure("an empty program name"));
        }
        if NO_PROGRAMS.contains(&name.as_str()) {
            return Err(Unsure("shell grammar beyond simple commands"));
        }
        if !word.quoted && super::unsure::is_assignment(&name) {
            return Err(Unsure("a variable that is not plain"));
        }
        Ok(word)
    }

    fn redirected(&mut self, node: Node<'tree>) -> Result<(), Unsure> {
        let Some(body) = node.child_by_field_name("body") else { return Err(Unsure("a redirection without a command")) };
        let mut part = Part::default();
        let children = self.children(node)?;
        self.check_apart(&children)?;
        for child in children.iter().filter(|child| child.id() != body.id()) {
            match child.kind() {
                "file_redirect" => self.redirect(*child, &mut part)?,
                "herestring_redirect" => self.here_string(*child)?,
                "heredoc_redirect" => self.document(*child, &mut part)?,
                _ => return Err(Unsure("shell grammar that is not read")),
            }
        }
        if body.kind() == "command" {
            return self.command(body, part);
        }
        if !part.writes.is_empty() {
            self.parts.push(part);
        }
        self.waiting.push(body);
        Ok(())
    }

    fn redirect(&mut self, node: Node<'tree>, part: &mut Part) -> Result<(), Unsure> {
        let children = self.children(node)?;
        let children: Vec<Node<'tree>> = children.into_iter().filter(|child| child.kind() != "file_descriptor").collect();
        let [sign, target] = children[..] else {
            // `>&-` and the like close a descriptor.
            let closes = children.len() == 1 && matches!(children[0].kind(), ">&-" | "<&-");
            return if closes { Ok(()) } else { Err(Unsure("a redirection that is not plain")) };
        };
        let word = self.words.read(target)?;
        let Some(name) = word.known().filter(|name| !name.is_empty() && !word.expands) else {
            return Err(Unsure("a redirection to a pattern"));
        };
        match sign.kind() {
            ">&" | "<&" if name.chars().all(|c| c.is_ascii_digit()) || name == "-" => Ok(()),
            "<" if !name.starts_with("/dev/tcp") && !name.starts_with("/dev/udp") => Ok(()),
            ">" | ">>" | ">|" | "&>" | "&>>" => {
                part.writes.push(name);
                Ok(())
            }
            _ => Err(Unsure("a redirection that is not plain")),
        }
    }

    fn here_string(&mut self, node: Node<'tree>) -> Result<(), Unsure> {
        let children = self.children(node)?;
        for child in children.into_iter().filter(|child| child.is_named() && child.kind() != "file_descriptor") {
            self.words.read(child)?;
        }
        Ok(())
    }

    /// A here-document: one in a text, its end found once more by the shell's rule, nothing expanded in it.
    fn document(&mut self, node: Node<'tree>, part: &mut Part) -> Result<(), Unsure> {
        self.documents += 1;
        if self.documents > 1 {
            return Err(Unsure("several here-documents"));
        }
        let mut strips = false;
        let (mut start, mut end, mut body) = (None, None, None);
        for child in self.children(node)? {
            match child.kind() {
                "<<" => {}
                "<<-" => strips = true,
                "heredoc_start" => start = Some(child),
                "heredoc_end" => end = Some(child),
                "heredoc_body" => body = Some(child),
                "file_redirect" => self.redirect(child, part)?,
                "file_descriptor" | "herestring_redirect" => return Err(Unsure("a redirection that is not plain")),
                _ if child.is_named() && !matches!(child.kind(), "word" | "string" | "raw_string" | "concatenation") => {
                    self.waiting.push(child);
                }
                "&&" | "||" => {}
                _ => return Err(Unsure("words after a here-document's name")),
            }
        }
        let (Some(start), Some(end)) = (start, end) else { return Err(Unsure("a here-document without an end")) };
        let source = self.words.source;
        let name = source.get(start.byte_range()).unwrap_or_default();
        let bare = name.trim_matches(['\'', '"']);
        let quoted = name == format!("'{bare}'") || name == format!("\"{bare}\"");
        if bare.is_empty() || !bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') || !(quoted || name == bare) {
            return Err(Unsure("a here-document with an unusual name"));
        }
        let after = source.get(start.end_byte()..).unwrap_or_default();
        let line = after.find('\n').map(|at| start.end_byte() + at + 1).ok_or(Unsure("a here-document without an end"))?;
        if source.get(start.end_byte()..line).is_some_and(|rest| rest.contains(['\\', '#', '\'', '"', '`', '$'])) {
            return Err(Unsure("a here-document whose first line is not plain"));
        }
        let mut at = line;
        for row in source.get(line..).unwrap_or_default().split_inclusive('\n') {
            let text = row.trim_end_matches('\n');
            let text = if strips { text.trim_start_matches('\t') } else { text };
            if text == bare {
                let there = at + row.trim_end_matches('\n').len() == end.end_byte();
                let inside = source.get(line..at).unwrap_or_default();
                let plain = quoted || !inside.contains(['$', '`', '\\']);
                let within = body.is_none_or(|body| body.start_byte() >= line && body.end_byte() <= end.end_byte());
                return if there && plain && within { Ok(()) } else { Err(Unsure("a here-document with expansions")) };
            }
            at += row.len();
        }
        Err(Unsure("a here-document without an end"))
    }

    fn loop_over(&mut self, node: Node<'tree>) -> Result<(), Unsure> {
        let variable = node.child_by_field_name("variable");
        let children = self.children(node)?;
        let name = variable.and_then(|variable| self.words.source.get(variable.byte_range())).unwrap_or_default();
        // Names of the environment are in capitals or have a `_`: those could change what programs do.
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase()) {
            return Err(Unsure("a loop over an unusual variable"));
        }
        for child in children.into_iter().rev() {
            match child.kind() {
                "do_group" => self.waiting.push(child),
                "variable_name" => {}
                _ if child.is_named() => drop(self.words.read(child)?),
                sign if SIGNS.contains(&sign) => {}
                _ => return Err(Unsure("shell grammar that is not read")),
            }
        }
        Ok(())
    }

    fn choice(&mut self, node: Node<'tree>) -> Result<(), Unsure> {
        let mut cursor = node.walk();
        let values: Vec<usize> = node.children_by_field_name("value", &mut cursor).map(|value| value.id()).collect();
        for child in self.children(node)?.into_iter().rev() {
            if values.contains(&child.id()) {
                let text = self.words.source.get(child.byte_range()).unwrap_or_default();
                let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "*?._-/".contains(c));
                if child.kind() != "extglob_pattern" || !plain {
                    self.words.read(child)?;
                }
            } else {
                self.sign_or_statement(child, node.kind())?;
            }
        }
        Ok(())
    }

    fn function(&mut self, node: Node<'tree>) -> Result<(), Unsure> {
        let name = node.child_by_field_name("name").and_then(|name| self.words.source.get(name.byte_range())).unwrap_or_default();
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
            return Err(Unsure("a function with an unusual name"));
        }
        for child in self.children(node)?.into_iter().rev() {
            match child.kind() {
                "word" | "function" => {}
                _ => self.sign_or_statement(child, node.kind())?,
            }
        }
        Ok(())
    }
}
