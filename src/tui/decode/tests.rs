//! The decoder on odd and hostile bytes.

use super::*;
use proptest::prelude::*;

fn decode(bytes: &[u8]) -> Vec<Input> {
    Decoder::default().feed(bytes)
}

fn key(code: KeyCode) -> Input {
    Input::Key(plain(code))
}

fn with(code: KeyCode, modifiers: &str) -> Input {
    let has = |c| modifiers.contains(c);
    Input::Key(Key { code, ctrl: has('c'), alt: has('a'), shift: has('s') })
}

#[test]
fn plain_keys_are_read() {
    let cases: &[(&[u8], Input)] = &[
        (b"a", key(KeyCode::Char('a'))),
        (b"A", with(KeyCode::Char('A'), "s")),
        ("é".as_bytes(), key(KeyCode::Char('é'))),
        ("漢".as_bytes(), key(KeyCode::Char('漢'))),
        ("😀".as_bytes(), key(KeyCode::Char('😀'))),
        (b"\r", key(KeyCode::Enter)),
        (b"\t", key(KeyCode::Tab)),
        (b"\x7f", key(KeyCode::Backspace)),
        (b"\x03", with(KeyCode::Char('c'), "c")),
        (b"\x1f", with(KeyCode::Char('_'), "c")),
        (b"\x00", with(KeyCode::Char(' '), "c")),
        (b"\x1bx", with(KeyCode::Char('x'), "a")),
        (b"\x1b\r", with(KeyCode::Enter, "a")),
    ];
    for (bytes, want) in cases {
        assert_eq!(decode(bytes), std::slice::from_ref(want), "{bytes:?}");
    }
}

#[test]
fn sequences_of_all_common_terminals_are_read() {
    let cases: &[(&[u8], Input)] = &[
        (b"\x1b[A", key(KeyCode::Up)),
        (b"\x1bOA", key(KeyCode::Up)),
        (b"\x1b[1;5C", with(KeyCode::Right, "c")),
        (b"\x1b[1;2A", with(KeyCode::Up, "s")),
        (b"\x1b[Z", key(KeyCode::BackTab)),
        (b"\x1b[5~", key(KeyCode::PageUp)),
        (b"\x1b[3;3~", with(KeyCode::Delete, "a")),
        (b"\x1b[7~", key(KeyCode::Home)),
        (b"\x1bOP", key(KeyCode::F(1))),
        (b"\x1b[[B", key(KeyCode::F(2))),
        (b"\x1b[24~", key(KeyCode::F(12))),
        (b"\x1b[27;5;13~", with(KeyCode::Enter, "c")),
    ];
    for (bytes, want) in cases {
        assert_eq!(decode(bytes), std::slice::from_ref(want), "{bytes:?}");
    }
}

#[test]
fn kittys_level_1_is_read_and_releases_are_not_keys() {
    assert_eq!(decode(b"\x1b[27u"), [key(KeyCode::Esc)]);
    assert_eq!(decode(b"\x1b[13;2u"), [with(KeyCode::Enter, "s")]);
    assert_eq!(decode(b"\x1b[9;2u"), [key(KeyCode::BackTab)]);
    assert_eq!(decode(b"\x1b[112;6u"), [with(KeyCode::Char('P'), "cs")]);
    assert_eq!(decode(b"\x1b[57414u"), [key(KeyCode::Enter)]);
    assert_eq!(decode(b"\x1b[97;1:3u\x1b[1;1:3A"), []);
    assert_eq!(decode(b"\x1b[57441u\x1b[97;9u"), []);
}

#[test]
fn a_key_cut_in_two_reads_is_one_key() {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.feed(b"\x1b"), []);
    assert_eq!(decoder.waiting(), Waiting::Sequence);
    assert_eq!(decoder.feed(b"[1;"), []);
    assert_eq!(decoder.feed(b"5A"), [with(KeyCode::Up, "c")]);
    assert_eq!(decoder.feed(&"漢".as_bytes()[..1]), []);
    assert_eq!(decoder.feed(&"漢".as_bytes()[1..]), [key(KeyCode::Char('漢'))]);
}

#[test]
fn a_lone_escape_becomes_the_key_when_nothing_follows() {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.feed(b"\x1b"), []);
    assert_eq!(decoder.give_up(), [key(KeyCode::Esc)]);
    assert_eq!(decoder.feed(b"\x1b\x1b"), [key(KeyCode::Esc)]);
    assert_eq!(decoder.give_up(), [key(KeyCode::Esc)]);
    assert_eq!(decoder.feed(b"\x1b["), []);
    assert_eq!(decoder.give_up(), [with(KeyCode::Char('['), "a")]);
    assert_eq!(decoder.waiting(), Waiting::No);
}

#[test]
fn mouse_and_focus_are_read() {
    assert_eq!(decode(b"\x1b[<0;5;3M\x1b[<0;5;3m"), [Input::Press(4, 2)]);
    assert_eq!(decode(b"\x1b[<64;1;1M\x1b[<65;300;200M"), [Input::WheelUp(0, 0), Input::WheelDown(299, 199)]);
    assert_eq!(decode(b"\x1b[<35;5;3M\x1b[<2;1;1M"), []);
    assert_eq!(decode(b"\x1b[I\x1b[O"), [Input::Focus(true), Input::Focus(false)]);
    assert_eq!(decode(b"\x1b[M !!q"), [key(KeyCode::Char('q'))], "an old report must not leak as keys");
}

#[test]
fn answers_to_other_programs_never_become_keys() {
    assert_eq!(decode(b"\x1b]11;rgb:0000/0000/0000\x1b\\q"), [key(KeyCode::Char('q'))]);
    assert_eq!(decode(b"\x1bP1+r544e=78\x1b\\\x1b_Gi=1;OK\x1b\\"), []);
    assert_eq!(decode(b"\x1b[?62;c\x1b[>1;2;3c\x1b[24;80R\x1b[?1u\x1b[?2026;2$y"), []);
}

#[test]
fn a_paste_is_one_input_with_newlines() {
    assert_eq!(decode(b"\x1b[200~a\r\nb\rc\nd\x1b[201~x"), [Input::Paste("a\nb\nc\nd".into()), key(KeyCode::Char('x'))]);
    assert_eq!(decode(b"\x1b[200~\x1b[201~"), []);
    assert_eq!(decode(b"\x1b[200~\x1b[A \xff\x1b[201~"), [Input::Paste("\u{1b}[A \u{fffd}".into())]);
}

#[test]
fn a_paste_without_an_end_is_bounded_and_can_be_given_up() {
    let mut decoder = Decoder::default();
    decoder.feed(b"\x1b[200~");
    let megabyte = vec![b'x'; 1024 * 1024];
    for _ in 0..10 {
        assert_eq!(decoder.feed(&megabyte), []);
    }
    assert_eq!(decoder.waiting(), Waiting::Paste);
    let got = decoder.feed(PASTE_END);
    assert!(matches!(&got[..], [Input::Paste(text)] if text.len() <= PASTE_MAX && text.len() > PASTE_MAX / 2));
    decoder.feed(b"\x1b[200~rest");
    assert_eq!(decoder.give_up(), [Input::Paste("rest".into())]);
    assert_eq!(decoder.feed(b"q"), [key(KeyCode::Char('q'))]);
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_give_the_same_keys_and_never_panic(bytes: Vec<u8>, cut in 0usize..64) {
        let cut = cut.min(bytes.len());
        let mut pieces = Decoder::default();
        let mut got = pieces.feed(&bytes[..cut]);
        got.extend(pieces.feed(&bytes[cut..]));
        let mut whole = Decoder::default();
        prop_assert_eq!(got, whole.feed(&bytes));
        prop_assert_eq!(whole.give_up(), pieces.give_up());
        prop_assert_eq!(whole.waiting(), Waiting::No);
    }

    #[test]
    fn sequences_of_escape_bytes_never_panic(text in "[\x1b\\[\\]OPM<;:?0-9~uAZ\x07 a]{0,200}") {
        let mut decoder = Decoder::default();
        decoder.feed(text.as_bytes());
        decoder.give_up();
        prop_assert_eq!(decoder.waiting(), Waiting::No);
    }
}
