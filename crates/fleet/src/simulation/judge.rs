//! What must hold, whatever happened.

use std::collections::HashMap;

use super::nodes::SimulatedAgent;
use super::world::{LifeEnd, Outcome};
use super::{Case, Mishap};
use crate::{Ns, SECOND};

/// The error says what does not hold.
pub fn judge(case: &Case, outcome: &Outcome) -> Result<(), String> {
    if !outcome.is_over {
        return Err(String::from("it does not come to an end"));
    }
    if outcome.wrong_leads > 0 {
        let (wrong, all) = (outcome.wrong_leads, outcome.leads);
        return Err(format!("{wrong} of {all} clocks were further off than the bound says"));
    }
    outcome.lives.iter().try_for_each(|life| begins_once(outcome, life))?;
    outcome.lives.iter().try_for_each(|life| hears_of_changes(case, outcome, life))?;
    let mut counted: HashMap<u32, u64> = HashMap::new();
    for (index, number, content) in &outcome.frames {
        let next = counted.entry(*index).or_default();
        *next += 1;
        if *number != *next {
            return Err(format!("agent {index}: frame {number} comes when {next} is due"));
        }
        let mut lives = outcome.lives.iter().filter(|life| life.number == *index as usize);
        if !lives.any(|life| SimulatedAgent::content(life.number, life.life, *number) == *content) {
            return Err(format!("agent {index}: frame {number} is not one of its own"));
        }
    }
    if outcome.closed.iter().zip(1..).any(|(closed, due)| *closed != due) {
        return Err(format!("seconds are closed out of order: {:?}", outcome.closed));
    }
    let is_complete = |life: &&LifeEnd| {
        let here = counted.get(&(life.number as u32)).copied().unwrap_or_default();
        life.has_ended && life.kept == here && outcome.ended.contains(&(life.number as u32))
    };
    let all_started = outcome.lives.iter().filter(|life| life.started.is_some());
    let incomplete: Vec<&LifeEnd> = all_started.filter(|life| !is_complete(life)).collect();
    for life in &incomplete {
        if !outcome.lost.contains(&(life.number as u32)) && !was_lost_before_start(case, outcome) {
            return Err(format!("agent {} is incomplete, and nobody says so: {life:?}", life.number));
        }
    }
    if case.mishaps.is_empty() && (outcome.losses > 0 || outcome.start.is_none() || !incomplete.is_empty()) {
        return Err(format!("nothing happened, and yet something is missing: {outcome:?}"));
    }
    let strangers = case.mishaps.iter().filter(|(_, mishap)| *mishap == Mishap::Stranger).count();
    if outcome.turned_away < strangers && case.mishaps.len() == strangers {
        return Err(String::from("a stranger was not turned away"));
    }
    Ok(())
}

/// No life begins twice, and none begins further from the instant than its bound, unless it heard of it too late.
fn begins_once(outcome: &Outcome, life: &LifeEnd) -> Result<(), String> {
    if life.starts > 1 {
        return Err(format!("agent {} began {} times", life.number, life.starts));
    }
    // Dates are whole nanoseconds, taken twice.
    const GRAIN: Ns = 1_000;
    if let (Some(start), Some(started)) = (outcome.start, life.started.filter(|at| *at > 0)) {
        let early = start.saturating_sub(started);
        if early > life.bound + GRAIN {
            return Err(format!("agent {} began {early} ns before the instant, bound {}", life.number, life.bound));
        }
    }
    Ok(())
}

/// Changes of the load come once and in order, and to each agent that could hear of them before its end.
fn hears_of_changes(case: &Case, outcome: &Outcome, life: &LifeEnd) -> Result<(), String> {
    let Outcome { changes, followed, .. } = outcome;
    let LifeEnd { number, changes: heard, .. } = life;
    if heard.iter().zip(1..).any(|(heard, due)| *heard != due) || heard.len() > changes.len() {
        return Err(format!("agent {number} heard of the changes {heard:?} of {changes:?}"));
    }
    // A connection that breaks is there again within 2.5 s, and a way takes 50 ms.
    let is_harmless = |(_, mishap): &(u64, Mishap)| matches!(mishap, Mishap::Break(_) | Mishap::Stranger);
    let patience = if case.mishaps.is_empty() { SECOND / 4 } else { 5 * SECOND };
    if !life.has_ended || life.ended == 0 || !case.mishaps.iter().all(is_harmless) {
        return Ok(());
    }
    let due = changes.iter().filter(|at| **at + patience < life.ended).count();
    let is_known = |change: &u64| followed.contains(&(*number as u32, *change));
    match heard.len() < due || !heard[..due].iter().all(is_known) {
        true => Err(format!("agent {number} heard of {heard:?}, and {due} changes were due; known are {followed:?}")),
        false => Ok(()),
    }
}

/// An agent that did not come before the start ends the test for all.
fn was_lost_before_start(case: &Case, outcome: &Outcome) -> bool {
    outcome.start.is_none() && !case.mishaps.is_empty()
}
