//! Members and a real `nats-server`.

mod chaos;
mod members;
mod outages;
mod refusals;
mod support;
