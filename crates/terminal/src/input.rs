//! The order in which a program is given its input, and when a burst is held back.
//!
//! Answers to the program's own queries go first, then what a person types, then the calls of
//! agents, one after the other; a burst under way is finished before anything else. A burst that
//! must stand apart is held until the kernel says that the program has read all before it, since
//! no fixed pause can prove that; for some programs longer, see `rest`. While the kernel edits lines
//! nothing needs to be held.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use wire::bash::InputFacts;
use wire::limits::{CANONICAL_LINE_BYTES, CONSUME_BOUND, MESSAGE_BYTES};

use crate::burst::{Burst, Item, Kind, Plan, is_multiline, longest_line, loses_modifiers};
use crate::machine::Ticket;
use crate::queries::{Answers, Way};
use crate::rest::Rest;
use crate::tty::{Consumed, Tty};
use crate::vt::Vt;

/// From one question to the next; the last one repeats. A program that is reading has read within
/// a fraction of a millisecond, and one that computes is not to be asked too often.
const ASK_AGAIN: [Duration; 5] = [
    Duration::from_micros(200),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(4),
];
/// What a person types ahead of a program that does not read; more is dropped.
const PERSON_BYTES: usize = MESSAGE_BYTES;

/// All that is to be written to one program.
#[derive(Debug, Default)]
pub(crate) struct Input {
    replies: Answers,
    replies_due: Option<Instant>,
    person: Vec<u8>,
    calls: VecDeque<Call>,
    out: Option<Out>,
    tty: Tty,
    /// Something was written that the program is not known to have read.
    unread: bool,
    /// The last burst of a call must not be read together with what follows.
    gap: bool,
    rest: Rest,
    /// A key is held back until then.
    resting: Option<Instant>,
    probe: Option<Probe>,
}

/// What happens to a call's input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Its first byte is about to be written.
    Begins(Ticket),
    /// Its last byte is written.
    Done(Ticket, InputFacts),
}

#[derive(Debug)]
struct Call {
    ticket: Ticket,
    items: VecDeque<Item>,
    facts: InputFacts,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The terminal is to be looked at first.
    Queued,
    Looked,
    Begun,
}

/// The burst under way.
#[derive(Debug)]
struct Out {
    owner: Option<Ticket>,
    burst: Burst,
    sent: usize,
}

/// A question to the kernel, asked until its answer lets the input go on.
#[derive(Debug)]
struct Probe {
    since: Instant,
    next: Instant,
    asked: usize,
    wanted: bool,
}

impl Call {
    /// What is to be told about an item before it is sent.
    fn note(&mut self, item: &Item, tty: Tty, vt: &Vt) {
        if let Item::Key(stroke, name) = item
            && loses_modifiers(stroke, vt)
        {
            self.facts.unknown_keys.push(name.clone());
        }
        if let Item::Text(text) = item {
            self.facts.multiline_without_paste_mode |=
                is_multiline(text) && !vt.modes().bracketed_paste;
            self.facts.truncation_risk |=
                tty.canonical && longest_line(text) > CANONICAL_LINE_BYTES;
        }
    }
}

impl Input {
    /// Puts a call's input at the end of the queue.
    pub(crate) fn enqueue(&mut self, ticket: Ticket, plan: Plan) {
        let facts = InputFacts {
            unknown_keys: plan.unknown_keys,
            ..InputFacts::default()
        };
        self.calls.push_back(Call {
            ticket,
            items: plan.items,
            facts,
            stage: Stage::Queued,
        });
    }

    /// Answers the program's queries.
    pub(crate) fn reply(&mut self, now: Instant, bytes: &[u8]) {
        let way = if self.out.is_some() {
            Way::Blocked
        } else {
            Way::Free
        };
        self.replies.push(bytes, way);
        self.replies_due = self.replies.wants_probe().then_some(now);
    }

    /// The program said something.
    pub(crate) fn output(&mut self, now: Instant) {
        self.rest.output(now);
    }

    /// Takes what a person types; returns how many bytes it took, all or none.
    pub(crate) fn person(&mut self, bytes: &[u8]) -> usize {
        if self.person.len() + bytes.len() > PERSON_BYTES {
            return 0;
        }
        self.person.extend_from_slice(bytes);
        bytes.len()
    }

    /// What the program is to be given next, in a write of its own.
    pub(crate) fn pending(&self) -> &[u8] {
        self.out
            .as_ref()
            .map_or(&[], |out| &out.burst.bytes[out.sent..])
    }

    /// The program's terminal took the first `n` pending bytes.
    pub(crate) fn written(&mut self, n: usize) {
        let Some(out) = &mut self.out else { return };
        let n = n.min(out.burst.bytes.len() - out.sent);
        out.sent += n;
        self.unread |= n > 0;
        let owner = out.owner;
        if out.sent == out.burst.bytes.len() {
            self.out = None;
        }
        if let Some(call) = self
            .calls
            .iter_mut()
            .find(|call| Some(call.ticket) == owner)
        {
            call.facts.accepted_bytes += n as u64;
        }
    }

    /// Whether the terminal is to be looked at now.
    pub(crate) fn wants_probe(&self) -> bool {
        self.replies.wants_probe() || self.probe.as_ref().is_some_and(|probe| probe.wanted)
    }

    /// The last look at the terminal.
    pub(crate) fn tty(&self) -> Tty {
        self.tty
    }

    /// What the kernel said.
    pub(crate) fn probed(&mut self, now: Instant, tty: Tty) {
        self.tty = tty;
        self.replies.probed(tty);
        self.replies_due = None;
        if tty.consumed == Consumed::Yes && self.out.is_none() {
            self.unread = false;
        }
        if let Some(call) = self.calls.front_mut() {
            call.facts.input_hidden |= tty.hides_input();
            if call.stage == Stage::Queued {
                call.stage = Stage::Looked;
            }
        }
        if let Some(probe) = &mut self.probe {
            probe.next = now + ASK_AGAIN[probe.asked.min(ASK_AGAIN.len() - 1)];
            probe.asked += 1;
            probe.wanted = false;
        }
    }

    /// When [`Input::tick`] is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let probe = self.probe.as_ref();
        let asks = probe.map(|probe| probe.next.min(probe.since + CONSUME_BOUND));
        [asks, self.resting].into_iter().flatten().min()
    }

    pub(crate) fn tick(&mut self, now: Instant) {
        if let Some(probe) = &mut self.probe {
            probe.wanted |= probe.next <= now;
        }
    }

    /// Goes on as far as it can without the program or the kernel.
    pub(crate) fn advance(&mut self, now: Instant, vt: &Vt) -> Vec<Progress> {
        let mut progress = Vec::new();
        while self.out.is_none() {
            let first = if !self.replies.is_empty() {
                let Some(bytes) = self.replies.take() else {
                    self.replies_due = Some(now);
                    break;
                };
                bytes
            } else if !self.person.is_empty() {
                std::mem::take(&mut self.person)
            } else if self.advance_call(now, vt, &mut progress) {
                continue;
            } else {
                break;
            };
            let burst = Burst {
                bytes: first,
                kind: Kind::Sequence,
            };
            self.out = Some(Out {
                owner: None,
                burst,
                sent: 0,
            });
        }
        progress
    }

    /// Stops a call's input wherever it is and tells what became of it. `None`: it is not queued.
    pub(crate) fn abandon(&mut self, ticket: Ticket, vt: &Vt) -> Option<InputFacts> {
        let at = self.calls.iter().position(|call| call.ticket == ticket)?;
        let mut call = self.calls.remove(at)?;
        let mut unsent: usize = call.items.iter().map(|item| item.length(vt)).sum();
        if let Some(out) = self.out.take_if(|out| out.owner == Some(ticket)) {
            let tail = out.burst.tail(out.sent);
            unsent += out.burst.bytes.len() - out.sent;
            if !tail.is_empty() {
                let burst = Burst {
                    bytes: tail,
                    kind: Kind::Sequence,
                };
                self.out = Some(Out {
                    owner: None,
                    burst,
                    sent: 0,
                });
            }
        }
        if at == 0 {
            self.probe = None;
            self.resting = None;
        }
        call.facts.unsent_bytes = unsent as u64;
        Some(call.facts)
    }

    /// Forgets what nobody will read any more; calls are to be abandoned first.
    pub(crate) fn end(&mut self) {
        self.replies = Answers::default();
        self.replies_due = None;
        self.person = Vec::new();
        self.out = None;
        self.probe = None;
        self.resting = None;
    }

    /// Loads the next burst of the first call, or ends it. False: nothing can be done now.
    fn advance_call(&mut self, now: Instant, vt: &Vt, progress: &mut Vec<Progress>) -> bool {
        let Some(call) = self.calls.front() else {
            return false;
        };
        let apart = self.gap || call.items.front().is_some_and(|item| item.stands_apart(vt));
        let held = self.unread && apart && !self.tty.canonical && !call.items.is_empty();
        if call.stage == Stage::Queued || held {
            if !self.patience_is_over(now) {
                return false;
            }
            self.unread = false;
        }
        self.probe = None;
        let Some(call) = self.calls.front_mut() else {
            return false;
        };
        call.facts.unconsumed_before_key |= held;
        if call.stage != Stage::Begun {
            call.stage = Stage::Begun;
            progress.push(Progress::Begins(call.ticket));
        }
        if apart && !call.items.is_empty() && self.rests(now, vt) {
            return false;
        }
        let Some(call) = self.calls.front_mut() else {
            return false;
        };
        let Some(item) = call.items.pop_front() else {
            let done = self.calls.pop_front();
            progress.extend(done.map(|call| Progress::Done(call.ticket, call.facts)));
            return true;
        };
        call.note(&item, self.tty, vt);
        let (burst, rest) = item.burst(vt);
        if let Some(rest) = rest {
            call.items.push_front(rest);
        }
        self.gap = matches!(burst.kind, Kind::Paste | Kind::Apart);
        match burst.kind {
            Kind::Text | Kind::Paste => self.rest.text(now),
            Kind::Sequence | Kind::Apart => self.rest.end(),
        }
        let owner = Some(call.ticket);
        self.out = (!burst.bytes.is_empty()).then_some(Out {
            owner,
            burst,
            sent: 0,
        });
        true
    }

    /// Whether the key that ends a text is to be held back although the program has read the text.
    fn rests(&mut self, now: Instant, vt: &Vt) -> bool {
        let until = self.rest.until(&vt.modes());
        self.resting = until.filter(|until| now < *until && !self.tty.canonical);
        self.resting.is_some()
    }

    /// Begins to ask, or says whether the answer has been waited for long enough.
    fn patience_is_over(&mut self, now: Instant) -> bool {
        let probe = self.probe.get_or_insert(Probe {
            since: now,
            next: now,
            asked: 0,
            wanted: true,
        });
        probe.since + CONSUME_BOUND <= now
    }
}
