//! Which sequences ask a terminal for an answer, or to act on its user's machine.
//!
//! It knows more queries than the engine answers: a viewer is some other terminal.

const OSC: &[u8] = b"\x1b]";
const CSI: &[u8] = b"\x1b[";
const DCS: &[u8] = b"\x1bP";
const APC: &[u8] = b"\x1b_";

/// `OSC 52`, the clipboard: captured by the server, and never carried out where a viewer sits.
const CLIPBOARD: u16 = 52;
/// iTerm2's commands, of which some report.
const ITERM: u16 = 1337;
/// Commands whose parameters are free text, in which a `?` asks nothing.
const FREE_TEXT: [u16; 10] = [0, 1, 2, 7, 8, 9, 99, 133, 633, 777];
/// Window reports of `CSI t`: state, position, sizes, icon label, title.
const REPORTS: [u16; 9] = [11, 13, 14, 15, 16, 18, 19, 20, 21];

/// Whether the complete `sequence` asks. A string comes without its terminator ESC, an OSC may
/// have its BEL.
pub(super) fn asks(sequence: &[u8]) -> bool {
    if let Some(body) = sequence.strip_prefix(CSI) {
        control_asks(body)
    } else if let Some(payload) = sequence.strip_prefix(OSC) {
        command_asks(payload.strip_suffix(b"\x07").unwrap_or(payload))
    } else if let Some(body) = sequence.strip_prefix(DCS) {
        device_asks(body)
    } else if let Some(body) = sequence.strip_prefix(APC) {
        graphics_asks(body)
    } else {
        sequence == b"\x1bZ"
    }
}

/// The length of the control sequence `bytes` begin with, when it is whole and asks nothing. Most
/// of a screen's bytes are such sequences, so this must be quick.
pub(super) fn harmless(bytes: &[u8]) -> Option<usize> {
    let body = bytes.strip_prefix(CSI)?;
    let end = body.iter().position(|b| !(0x20..=0x3f).contains(b))?;
    let harmless = match body[end] {
        b'm' => body[0] != b'?',
        b'c' | b'n' | b'p' | b'q' | b'S' | b't' | b'u' | b'v' | b'w' | b'x' | b'y' | b'|' => {
            !control_asks(&body[..=end])
        }
        0x40..=0x7e => true,
        _ => false,
    };
    harmless.then_some(CSI.len() + end + 1)
}

/// Whether a sequence that begins with `start` could still turn out to ask.
pub(super) fn may_ask(start: &[u8]) -> bool {
    if let Some(payload) = start.strip_prefix(OSC) {
        command_number(payload)
            .is_some_and(|number| !FREE_TEXT.contains(&number) && number != ITERM)
    } else {
        asks(start)
    }
}

fn control_asks(body: &[u8]) -> bool {
    // Controls and characters within a control sequence are no part of it.
    let read: Vec<u8> = body
        .iter()
        .copied()
        .filter(|b| (0x20..=0x7e).contains(b))
        .collect();
    let Some((&last, front)) = read.split_last() else {
        return false;
    };
    let (marker, front) = match front {
        [mark @ 0x3c..=0x3f, rest @ ..] => (Some(*mark), rest),
        _ => (None, front),
    };
    let digits = front.iter().take_while(|&&b| b > 0x2f).count();
    let (params, between) = front.split_at(digits);
    match (marker, between, last) {
        (None | Some(b'>' | b'='), b"", b'c') => true,
        (None | Some(b'?'), b"", b'n') => true,
        (Some(b'>'), b"", b'q') => true,
        (None | Some(b'?'), b"$", b'p') => true,
        (Some(b'?'), b"", b'u' | b'm' | b'S') => true,
        (None, b"", b't') => number(params).is_some_and(|first| REPORTS.contains(&first)),
        (None, b"", b'x') => true,
        (None, b"*", b'y') | (None, b"\"", b'v') | (None, b"'", b'|') => true,
        (None, b"$", b'u' | b'w') | (None, b"&", b'u') => true,
        _ => false,
    }
}

fn command_asks(payload: &[u8]) -> bool {
    let Some(number) = command_number(payload) else {
        return false;
    };
    if number == CLIPBOARD {
        return true;
    }
    if number == ITERM {
        return payload.starts_with(b"1337;Re");
    }
    !FREE_TEXT.contains(&number)
        && payload
            .split(|&b| b == b';')
            .any(|param| param == b"?" || param.ends_with(b"=?"))
}

/// DECRQSS and XTGETTCAP.
fn device_asks(body: &[u8]) -> bool {
    let params = body
        .iter()
        .take_while(|&&b| (0x30..=0x3f).contains(&b))
        .count();
    body[params..].starts_with(b"$q") || body[params..].starts_with(b"+q")
}

/// A query of kitty's graphics protocol.
fn graphics_asks(body: &[u8]) -> bool {
    let keys = body
        .strip_prefix(b"G")
        .and_then(|rest| rest.split(|&b| b == b';').next());
    keys.is_some_and(|keys| keys.split(|&b| b == b',').any(|key| key == b"a=q"))
}

/// The number an OSC begins with, when a `;` or the end follows it.
fn command_number(payload: &[u8]) -> Option<u16> {
    payload.split(|&b| b == b';').next().and_then(number)
}

fn number(digits: &[u8]) -> Option<u16> {
    let first = digits
        .split(|&b| b == b';' || b == b':')
        .next()
        .unwrap_or_default();
    std::str::from_utf8(first).ok()?.parse().ok()
}
