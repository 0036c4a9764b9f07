//! Somebody who sends what no member would send, for tests.

use crate::address::Address;
use crate::error::JoinError;
use crate::link::{Link, Stored, runtime, unanswered};
use crate::wire::{self, Body, Session};
use tokio::runtime::Runtime;

pub struct Stranger {
    runtime: Runtime,
    link: Link,
    session: Session,
}

impl Stranger {
    pub fn connect(url: &str) -> Result<Stranger, JoinError> {
        let address = Address::parse(url)?;
        let options = address.login(None)?;
        let runtime = runtime()?;
        let link = runtime.block_on(Link::connect(address, options))?;
        Ok(Stranger { runtime, link, session: fastrand::u64(1..) })
    }

    /// Joins, and is never heard of again.
    pub fn join(&self, name: &str) -> Result<(), JoinError> {
        let body = Body::Join { name: name.into() };
        self.send(&wire::subject(self.session, &body), wire::encode(&body)).map(drop)
    }

    /// Stores any bytes at the end of a subject. True if the server took them.
    pub fn send(&self, subject: &str, payload: Vec<u8>) -> Result<bool, JoinError> {
        let subject = self.link.subject(subject);
        let stored = self.link.store(subject, self.session, payload, false);
        let stored = self.runtime.block_on(stored).map_err(|t| self.link.join_error(t))?;
        Ok(matches!(stored, Stored::At(_)))
    }

    /// Asks all members how they are. Their answers go to the end of a subject of the log.
    pub fn ask(&self, subject: &str) -> Result<(), JoinError> {
        let (ping, reply) = (self.link.live("ping"), self.link.subject(subject));
        self.runtime.block_on(async {
            let client = &self.link.client;
            let asked = client.publish_with_reply(ping, reply, Vec::new().into()).await;
            asked.map_err(|error| self.link.join_error(unanswered(&error)))?;
            client.flush().await.map_err(|error| self.link.join_error(unanswered(&error)))
        })
    }

    /// The end of the subject of an input.
    pub fn subject_of_input(bytes: &[u8]) -> String {
        let hash = wire::content_hash(pleach_campaign::run::fleet::FindKind::Queue, bytes);
        format!("input.{hash:032x}")
    }
}
