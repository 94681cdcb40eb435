//! Calls from their arrival to their answer.
//!
//! An input call's answer is held for one more look at the terminal, since what came of the input
//! (a password prompt, output stopped by Ctrl+S) shows only afterwards.

use std::time::Instant;

use wire::bash::{Act, Action, Details, InputFacts, Outcome, Wait};
use wire::limits::CONSUME_BOUND;
use wire::{Kind, Refusal};

use super::restless::Restless;
use super::{Driver, Effect, Machine, Ticket};
use crate::answer;
use crate::burst::Plan;
use crate::input::Input;
use crate::text::ScreenText;
use crate::tty::Tty;
use crate::vt::Vt;
use crate::wait::{Moment, Verdict, Waiter};

/// Calls that wait, and answers that wait for a last look.
#[derive(Debug, Default)]
pub(super) struct Calls {
    waiting: Vec<Call>,
    answers: Vec<Answer>,
}

/// A waiting call.
#[derive(Debug)]
pub(super) struct Call {
    waiter: Waiter,
    restless: Restless,
}

#[derive(Debug)]
struct Answer {
    ticket: Ticket,
    details: Box<Details>,
    until: Instant,
}

impl Machine {
    /// The answer of `open`: the program is ready, or the wait that came with it is over.
    pub fn opened(&mut self, now: Instant, ticket: Ticket, wait: Wait) {
        self.wait(now, ticket, Action::Open, wait);
        self.advance(now);
    }

    /// Begins an action on the terminal. Its answer is an effect, now or later.
    pub fn act(&mut self, now: Instant, ticket: Ticket, act: Act) {
        match act {
            Act::Input {
                action,
                text,
                keys,
                wait,
            } => {
                self.type_in(now, ticket, action, Plan::new(&text, &keys), wait);
            }
            Act::Wait(wait) => self.wait(now, ticket, Action::Wait, wait),
            Act::Screen => self.answer(ticket, Action::Screen),
            Act::Resize(size) => {
                self.resize(now, size);
                self.answer(ticket, Action::Resize);
            }
            // Ending processes is for those who own them; this tells how the terminal stands.
            Act::Close => self.answer(ticket, Action::Close),
        }
        self.advance(now);
    }

    /// Ends a call early: its input stops, the program goes on. What was sent is answered.
    pub fn cancel(&mut self, now: Instant, ticket: Ticket) {
        let moment = self.moment(now);
        if let Some(call) = self.calls.take(ticket) {
            self.interrupt(&moment, call);
        }
        self.advance(now);
    }

    pub(super) fn interrupt(&mut self, moment: &Moment, mut call: Call) {
        if let Some(facts) = self.input.abandon(call.waiter.ticket, &self.vt) {
            call.waiter.input = Some(facts);
        }
        let verdict = call.waiter.interrupted(moment);
        self.conclude(moment, call, verdict);
    }

    /// Makes the answer of a call that is over.
    pub(super) fn conclude(&mut self, moment: &Moment, call: Call, verdict: Verdict) {
        let Call { waiter, restless } = call;
        let marker = waiter.marker();
        let mut details = answer::details(self.id, &self.vt, self.exit, waiter.action, marker);
        let rows = if verdict.outcome == Outcome::Timeout {
            restless.rows()
        } else {
            Vec::new()
        };
        details.wait = Some(waiter.facts(moment.now, verdict, rows));
        let display_changed = self.vt.fingerprint() != waiter.fingerprint;
        details.input = waiter.input.map(|facts| InputFacts {
            display_changed,
            ..facts
        });
        let (ticket, details) = (waiter.ticket, Box::new(details));
        let Some(input) = &details.input else {
            return self.effects.push(Effect::Reply {
                ticket,
                result: Ok(details),
            });
        };
        if self.exit.is_some() || input.accepted_bytes == 0 {
            return self.effects.push(Effect::Reply {
                ticket,
                result: Ok(details),
            });
        }
        let until = moment.now + CONSUME_BOUND;
        self.calls.answers.push(Answer {
            ticket,
            details,
            until,
        });
    }

    fn type_in(&mut self, now: Instant, ticket: Ticket, action: Action, plan: Plan, wait: Wait) {
        if self.driver == Driver::Person && self.exit.is_none() {
            let refusal = Refusal::new(
                Kind::TakenOver,
                "a person has taken this terminal over; nothing was sent",
            )
            .hint("wait and screen still work; send input after the release");
            return self.effects.push(Effect::Reply {
                ticket,
                result: Err(refusal),
            });
        }
        let typed = Some(plan.typed.clone());
        let mut waiter = Waiter::new(now, ticket, action, wait, typed);
        self.input.enqueue(ticket, plan);
        if self.exit.is_some() {
            waiter.begin(self.vt.fingerprint(), || text(&self.vt));
            waiter.input = self.input.abandon(ticket, &self.vt);
            waiter.sent(now, self.outputs);
            let verdict = Verdict {
                outcome: Outcome::Exited,
                in_echo: false,
                settled: true,
            };
            let call = Call {
                waiter,
                restless: Restless::default(),
            };
            return self.conclude(&self.moment(now), call, verdict);
        }
        self.calls.waiting.push(Call {
            waiter,
            restless: Restless::default(),
        });
    }

    fn wait(&mut self, now: Instant, ticket: Ticket, action: Action, wait: Wait) {
        let mut waiter = Waiter::new(now, ticket, action, wait, None);
        match action {
            // What a fresh program showed so far came of its being opened.
            Action::Open => waiter.begin(0, ScreenText::default),
            _ => waiter.begin(self.vt.fingerprint(), || text(&self.vt)),
        }
        let outputs = if action == Action::Open {
            0
        } else {
            self.outputs
        };
        waiter.sent(now, outputs);
        self.calls.waiting.push(Call {
            waiter,
            restless: Restless::default(),
        });
    }

    fn answer(&mut self, ticket: Ticket, action: Action) {
        let result = Ok(Box::new(self.details(action)));
        self.effects.push(Effect::Reply { ticket, result });
    }
}

impl Calls {
    pub(super) fn before_output(&mut self, now: Instant, vt: &Vt) {
        for call in &mut self.waiting {
            call.restless.before(now, &call.waiter, vt);
        }
    }

    pub(super) fn after_output(&mut self, vt: &Vt) {
        for call in &mut self.waiting {
            call.restless.after(vt);
        }
    }

    pub(super) fn begin(&mut self, ticket: Ticket, vt: &Vt, tty: Tty) {
        if let Some(call) = self.find(ticket) {
            call.waiter.begins_in(tty);
            call.waiter.begin(vt.fingerprint(), || text(vt));
        }
    }

    pub(super) fn sent(&mut self, moment: &Moment, ticket: Ticket, facts: InputFacts) {
        if let Some(call) = self.find(ticket) {
            call.waiter.input = Some(facts);
            call.waiter.sent(moment.now, moment.outputs);
        }
    }

    /// Stops input that its deadline overtook. True: there was some.
    pub(super) fn give_up_late_input(
        &mut self,
        moment: &Moment,
        input: &mut Input,
        vt: &Vt,
    ) -> bool {
        self.give_up(moment, input, vt, |waiter| waiter.ends() <= moment.now)
    }

    /// Stops all input.
    pub(super) fn give_up_input(&mut self, moment: &Moment, input: &mut Input, vt: &Vt) {
        self.give_up(moment, input, vt, |_| true);
    }

    /// Takes the calls that are over.
    pub(super) fn judge(&mut self, moment: &Moment, vt: &Vt) -> Vec<(Call, Verdict)> {
        let mut over = Vec::new();
        let mut rendered: Option<ScreenText> = None;
        for mut call in std::mem::take(&mut self.waiting) {
            let read = || rendered.get_or_insert_with(|| text(vt)).clone();
            match call.waiter.judge(moment, read) {
                Some(verdict) => over.push((call, verdict)),
                None => self.waiting.push(call),
            }
        }
        over
    }

    pub(super) fn deadline(&self, moment: &Moment) -> Option<Instant> {
        let waiting = self.waiting.iter().map(|call| call.waiter.deadline(moment));
        waiting
            .chain(self.answers.iter().map(|answer| answer.until))
            .min()
    }

    /// Takes the calls that gave input.
    pub(super) fn with_input(&mut self) -> Vec<Call> {
        self.waiting
            .extract_if(.., |call| call.waiter.has_input())
            .collect()
    }

    pub(super) fn want_look(&self) -> bool {
        !self.answers.is_empty() || self.waiting.iter().any(|it| it.waiter.wants_look())
    }

    /// Completes the answers that waited for a look, and tells those who doubt what they see.
    pub(super) fn looked(&mut self, tty: Tty, effects: &mut Vec<Effect>) {
        let in_doubt = |call: &&mut Call| call.waiter.wants_look();
        for call in self.waiting.iter_mut().filter(in_doubt) {
            call.waiter.looked(tty);
        }
        for answer in &mut self.answers {
            if let Some(facts) = &mut answer.details.input {
                facts.input_hidden |= tty.hides_input();
                facts.output_stopped |= tty.output_stopped;
            }
        }
        self.looked_enough(effects);
    }

    /// Gives the answers as they are.
    pub(super) fn looked_enough(&mut self, effects: &mut Vec<Effect>) {
        for Answer {
            ticket, details, ..
        } in self.answers.drain(..)
        {
            effects.push(Effect::Reply {
                ticket,
                result: Ok(details),
            });
        }
    }

    pub(super) fn tick(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        if self.answers.iter().any(|answer| answer.until <= now) {
            self.looked_enough(effects);
        }
    }

    fn give_up(
        &mut self,
        moment: &Moment,
        input: &mut Input,
        vt: &Vt,
        which: impl Fn(&Waiter) -> bool,
    ) -> bool {
        let mut any = false;
        for Call { waiter, .. } in &mut self.waiting {
            if waiter.is_sent() || !which(waiter) {
                continue;
            }
            if let Some(facts) = input.abandon(waiter.ticket, vt) {
                waiter.input = Some(facts);
            }
            waiter.gave_up(moment.now, moment.outputs);
            any = true;
        }
        any
    }

    fn take(&mut self, ticket: Ticket) -> Option<Call> {
        let at = self
            .waiting
            .iter()
            .position(|call| call.waiter.ticket == ticket)?;
        Some(self.waiting.remove(at))
    }

    fn find(&mut self, ticket: Ticket) -> Option<&mut Call> {
        self.waiting
            .iter_mut()
            .find(|call| call.waiter.ticket == ticket)
    }
}

fn text(vt: &Vt) -> ScreenText {
    ScreenText::new(&vt.rows(), vt.size().cols)
}
