//! Members and a real `nats-server`.

mod members;
mod outages;
mod refusals;
mod support;
