//! Why a member does not join: one sentence each, without secrets.

use pleach_campaign::run::fleet::Difference;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    #[error("the address of the fleet is wrong: {why} (nats://HOST:PORT/CAMPAIGN)")]
    Address { why: String },
    #[error("cannot use the credentials in {}: {why}", path.display())]
    Credentials { path: PathBuf, why: String },
    #[error("no server answers at {address} ({why})")]
    NoServer { address: String, why: String },
    #[error("the server at {address} refuses the login: wrong user, password, token or key")]
    Login { address: String },
    #[error(
        "cannot make a secure connection to {address}: {why}; if its certificate is your own, name the root in NATS_CA"
    )]
    Tls { address: String, why: String },
    #[error("the server at {address} runs without JetStream; start it with `nats-server -js`")]
    NoJetStream { address: String },
    #[error("the server at {address} has no campaign of that name")]
    NoCampaign { address: String },
    #[error("the store of the server at {address} is full: {why}")]
    Full { address: String, why: String },
    #[error("the campaign {address} searches another build: {difference}")]
    Build { address: String, difference: Difference },
    #[error("the campaign {address} was made by another version of pleach: {why}")]
    Version { address: String, why: String },
    #[error("the server at {address} refuses: {why}")]
    Refused { address: String, why: String },
    #[error("{}: {why}", path.display())]
    Disk { path: PathBuf, why: String },
}
