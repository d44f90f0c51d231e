//! What every backing has to do: one list of cases, run over each by a real coordinator's thread, real agents' threads
//! and real sockets or files. A backing whose program is not installed is named and skipped.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "says which programs are missing")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "objects")]
mod azurite;
#[cfg(feature = "nats")]
mod broker;
mod cases;
mod embedded;
mod fixture;
#[cfg(feature = "objects")]
mod folder;
#[cfg(feature = "objects")]
mod gateway;
#[cfg(any(feature = "nats", feature = "objects"))]
mod programs;
mod proxy;

/// The cases, as tests of a backing.
macro_rules! conform {
    ($name:ident, $backing:ty) => {
        mod $name {
            use super::{cases, fixture::Backing};

            type Tested = $backing;

            fn over(case: fn(&Tested)) {
                match Tested::make() {
                    Ok(backing) => case(&backing),
                    Err(why) => eprintln!("skipped: {why}"),
                }
            }

            #[test]
            fn a_test_goes_from_the_first_agent_to_the_last_frame() {
                over(cases::whole_test);
            }

            #[test]
            fn all_agents_start_at_one_instant() {
                over(cases::one_instant);
            }

            #[test]
            fn nothing_is_lost_or_doubled_when_connections_break() {
                over(cases::cut);
            }

            #[test]
            fn an_agent_with_another_token_is_refused() {
                over(cases::another_token);
            }

            #[test]
            fn an_index_is_given_once() {
                over(cases::doubled_index);
            }

            #[test]
            fn a_stop_reaches_everybody() {
                over(cases::stop);
            }

            #[test]
            fn many_agents_are_served() {
                over(cases::crowd);
            }
        }
    };
}

conform!(tcp, crate::embedded::Embedded);
#[cfg(feature = "objects")]
conform!(objects_in_a_folder, crate::folder::Folder);
#[cfg(feature = "objects")]
conform!(objects_in_s3, crate::gateway::Gateway<crate::gateway::Versity>);
#[cfg(feature = "objects")]
conform!(objects_in_azure, crate::gateway::Gateway<crate::azurite::Azurite>);
#[cfg(feature = "nats")]
conform!(nats, crate::broker::Nats);

/// A broker that is away for longer than it takes to lose an agent.
#[cfg(feature = "nats")]
#[test]
fn a_broker_that_is_away_for_five_seconds_costs_nothing() {
    match <broker::Nats as fixture::Backing>::make() {
        Ok(nats) => cases::outage(&nats, std::time::Duration::from_secs(5)),
        Err(why) => eprintln!("skipped: {why}"),
    }
}

/// Stores that are away for longer than it takes to lose an agent.
#[cfg(feature = "objects")]
mod outages {
    use std::time::Duration;

    use super::{cases, fixture::Backing, folder::Folder, gateway::Gateway, gateway::Versity};

    #[test]
    fn a_folder_that_is_away_for_four_seconds_costs_nothing() {
        cases::outage(&Folder::make().unwrap(), Duration::from_secs(4));
    }

    #[test]
    fn a_gateway_that_is_away_for_ten_seconds_costs_nothing() {
        match Gateway::<Versity>::make() {
            Ok(gateway) => cases::outage(&gateway, Duration::from_secs(10)),
            Err(why) => eprintln!("skipped: {why}"),
        }
    }
}
