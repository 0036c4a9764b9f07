//! The connection to a server, the stream of a campaign, and its manifest.

use crate::address::Address;
use crate::error::JoinError;
use crate::wire::{FROM, Session};
use async_nats::jetstream::context::{
    Context, ContextBuilder, CreateStreamErrorKind, GetStreamErrorKind, PublishAckFuture,
    PublishError, PublishErrorKind,
};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, RawMessageErrorKind, RetentionPolicy, StorageType, Stream,
};
use async_nats::jetstream::{self, ErrorCode};
use async_nats::{Client, ConnectErrorKind, Event};
use pleach_campaign::run::fleet::{Build, Fleet};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// The bytes of a campaign on the server. A server with less room gets the half, or the half of
/// that.
const CAMPAIGN_BYTES: i64 = 8 << 30;
const LEAST_BYTES: i64 = 64 << 10;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection that does not answer for two or three of these is made anew.
const PING_INTERVAL: Duration = Duration::from_secs(4);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a server that is reached may take to make a campaign.
const START_PATIENCE: Duration = Duration::from_secs(25);
/// The longest pause between two attempts to reach a server that is away.
const RECONNECT_PAUSE: Duration = Duration::from_secs(2);

/// What all members of a campaign agree on. The first one writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    protocol: u32,
    /// Another one each time a campaign is made: a server that has lost its store gets a new
    /// one.
    pub id: String,
    pub build: Vec<(String, String)>,
    /// The first member's `run.toml`, for `fetch`.
    pub run: String,
}

/// Why something could not be done. Only the first two pass by themselves.
#[derive(Clone, Debug)]
pub enum Trouble {
    Away(String),
    Full(String),
    NoJetStream,
    Refused(String),
    /// Nothing is wrong, but everything is to be checked again.
    Again,
}

/// What became of a message.
#[derive(Clone, Debug)]
pub enum Stored {
    At(u64),
    /// Its subject has a message already.
    Already,
    TooLarge,
}

#[derive(Clone)]
pub struct Link {
    pub client: Client,
    pub jetstream: Context,
    pub address: Address,
    /// True while there is a connection.
    pub connected: watch::Receiver<bool>,
}

/// A server that is reached, and a campaign that this build may join.
pub struct Connection {
    pub(crate) runtime: Runtime,
    pub(crate) link: Link,
    pub(crate) manifest: Manifest,
    is_new: bool,
}

impl Connection {
    /// Connects, and makes the campaign if there is none. Nothing on disk is touched.
    pub fn open(
        url: &str,
        creds: Option<&Path>,
        build: &Build,
        run: &str,
    ) -> Result<Connection, JoinError> {
        let address = Address::parse(url)?;
        let options = address.login(creds)?;
        let runtime = runtime()?;
        let manifest = Manifest::new(build, run);
        let (link, manifest, is_new) = runtime.block_on(async {
            let link = Link::connect(address, options).await?;
            let agreed = link.agree_patiently(&manifest).await;
            let (stream, agreed) = agreed.map_err(|trouble| link.join_error(trouble))?;
            check_build(&link.address, &agreed, build)?;
            let is_new = agreed == manifest || !link.has_work(&stream).await;
            Ok((link, agreed, is_new))
        })?;
        Ok(Connection { runtime, link, manifest, is_new })
    }

    /// Becomes a member, with its directory in that of the campaign.
    pub fn join(self, dir: &Path) -> Result<Arc<dyn Fleet>, JoinError> {
        Ok(Arc::new(crate::member::Member::start(self, dir)?))
    }

    /// True if the campaign has no input and no task yet.
    pub fn is_new(&self) -> bool {
        self.is_new
    }
}

pub fn runtime() -> Result<Runtime, JoinError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        JoinError::Disk { path: "thread of the network".into(), why: error.to_string() }
    })
}

fn check_build(address: &Address, manifest: &Manifest, build: &Build) -> Result<(), JoinError> {
    let address = address.to_string();
    if manifest.protocol != crate::wire::PROTOCOL {
        let why = format!(
            "it speaks version {} of the protocol, and this one {}",
            manifest.protocol,
            crate::wire::PROTOCOL
        );
        return Err(JoinError::Version { address, why });
    }
    match build.difference(&manifest.build()) {
        None => Ok(()),
        Some(difference) => Err(JoinError::Build { address, difference }),
    }
}

impl Manifest {
    fn new(build: &Build, run: &str) -> Manifest {
        Manifest {
            protocol: crate::wire::PROTOCOL,
            id: format!("{:016x}", fastrand::u64(..)),
            build: build.parts.clone(),
            run: run.to_string(),
        }
    }

    /// The same campaign, made anew.
    pub fn renewed(&self) -> Manifest {
        Manifest { id: format!("{:016x}", fastrand::u64(..)), ..self.clone() }
    }

    pub fn build(&self) -> Build {
        Build { parts: self.build.clone() }
    }

    /// True if both search the same.
    pub fn agrees(&self, other: &Manifest) -> bool {
        self.protocol == other.protocol && self.build().difference(&other.build()).is_none()
    }
}

impl Link {
    pub async fn connect(
        address: Address,
        options: async_nats::ConnectOptions,
    ) -> Result<Link, JoinError> {
        let (tell, connected) = watch::channel(true);
        let options = options
            .name("pleach")
            .connection_timeout(CONNECT_TIMEOUT)
            .ping_interval(PING_INTERVAL)
            .reconnect_delay_callback(|attempts| {
                RECONNECT_PAUSE.min(Duration::from_millis(100 * attempts.min(100) as u64))
            })
            .event_callback(move |event| {
                match event {
                    Event::Connected => drop(tell.send(true)),
                    Event::Disconnected | Event::Closed => drop(tell.send(false)),
                    _ => {}
                }
                std::future::ready(())
            });
        let shown = || address.to_string();
        let client = options.connect(address.servers()).await.map_err(|error| {
            let why = innermost(&error);
            match error.kind() {
                ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                    JoinError::Login { address: shown() }
                }
                ConnectErrorKind::Tls => JoinError::Tls { address: shown(), why },
                _ if why.contains("certificate") => JoinError::Tls { address: shown(), why },
                _ if why.contains("authorization violation") => {
                    JoinError::Login { address: shown() }
                }
                _ => JoinError::NoServer { address: shown(), why },
            }
        })?;
        let jetstream = ContextBuilder::new().timeout(REQUEST_TIMEOUT).build(client.clone());
        Ok(Link { client, jetstream, address, connected })
    }

    pub fn join_error(&self, trouble: Trouble) -> JoinError {
        let address = self.address.to_string();
        match trouble {
            Trouble::Away(why) => JoinError::NoServer { address, why },
            Trouble::Full(why) => JoinError::Full { address, why },
            Trouble::NoJetStream => JoinError::NoJetStream { address },
            Trouble::Refused(why) => JoinError::Refused { address, why },
            Trouble::Again => JoinError::Refused { address, why: "it changes".into() },
        }
    }

    /// The subject of a message of the log.
    pub fn subject(&self, rest: &str) -> String {
        format!("pleach.{}.log.{rest}", self.address.campaign)
    }

    /// The subject of what is not kept.
    pub fn live(&self, rest: &str) -> String {
        format!("pleach.{}.live.{rest}", self.address.campaign)
    }

    fn stream_name(&self) -> String {
        format!("pleach-{}", self.address.campaign)
    }

    /// The stream, if there is one.
    pub async fn stream(&self) -> Result<Option<Stream>, Trouble> {
        match self.jetstream.get_stream(self.stream_name()).await {
            Ok(stream) => Ok(Some(stream)),
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(error)
                    if error.error_code() == ErrorCode::STREAM_NOT_FOUND =>
                {
                    Ok(None)
                }
                GetStreamErrorKind::JetStream(error) => Err(refusal(&error)),
                _ => Err(unanswered(&error)),
            },
        }
    }

    /// The stream, made if there is none.
    async fn stream_or_new(&self) -> Result<Stream, Trouble> {
        if let Some(stream) = self.stream().await? {
            return Ok(stream);
        }
        let mut config = Config {
            name: self.stream_name(),
            subjects: vec![self.subject(">")],
            retention: RetentionPolicy::Limits,
            // A full store refuses what is new. Nothing that members rely on goes away.
            discard: DiscardPolicy::New,
            storage: StorageType::File,
            max_bytes: CAMPAIGN_BYTES,
            num_replicas: if self.client.server_info().cluster.is_some() { 3 } else { 1 },
            ..Config::default()
        };
        loop {
            let error = match self.jetstream.create_stream(&config).await {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            let CreateStreamErrorKind::JetStream(refused) = error.kind() else {
                return Err(match error.kind() {
                    CreateStreamErrorKind::JetStreamUnavailable => Trouble::NoJetStream,
                    _ => unanswered(&error),
                });
            };
            match refused.error_code() {
                ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED | ErrorCode::CLUSTER_NO_PEERS
                    if config.num_replicas > 1 =>
                {
                    config.num_replicas = 1;
                }
                // Another member was faster, and met another limit.
                ErrorCode::STREAM_NAME_EXIST => {
                    return self.stream().await?.ok_or(Trouble::Again);
                }
                _ if is_full(refused.error_code()) && config.max_bytes > LEAST_BYTES => {
                    config.max_bytes /= 2;
                }
                _ => return Err(refusal(&refused)),
            }
        }
    }

    /// The stream and the manifest that counts: the first one in it.
    pub async fn agree(&self, mine: &Manifest) -> Result<(Stream, Manifest), Trouble> {
        let stream = self.stream_or_new().await?;
        let payload = serde_json::to_vec(mine).map_err(|e| Trouble::Refused(e.to_string()))?;
        // Another member may be faster, or somebody has sent what is no manifest.
        for only in [true, false] {
            if let Some(manifest) = self.manifest(&stream).await? {
                return Ok((stream, manifest));
            }
            let ack = self.publish(self.subject("manifest"), 0, payload.clone(), only).await?;
            if let Stored::TooLarge = stored(ack.await)? {
                return Err(Trouble::Refused("the settings are too long".into()));
            }
        }
        let manifest = self.manifest(&stream).await?;
        Ok((stream, manifest.ok_or(Trouble::Again)?))
    }

    /// The same at the start: the servers of a cluster may be about to elect a leader.
    async fn agree_patiently(&self, mine: &Manifest) -> Result<(Stream, Manifest), Trouble> {
        let deadline = Instant::now() + START_PATIENCE;
        loop {
            match self.agree(mine).await {
                Err(Trouble::Away(_) | Trouble::Again) if Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                result => return result,
            }
        }
    }

    /// The first manifest of the log. What is sent to its subject later counts for nobody.
    pub async fn manifest(&self, stream: &Stream) -> Result<Option<Manifest>, Trouble> {
        let subject = self.subject("manifest");
        let mut next = 1;
        loop {
            match stream.get_first_raw_message_by_subject(&subject, next).await {
                Ok(message) => match serde_json::from_slice(&message.payload) {
                    Ok(manifest) => return Ok(Some(manifest)),
                    Err(_) => next = message.sequence + 1,
                },
                Err(error) => {
                    return match error.kind() {
                        RawMessageErrorKind::NoMessageFound => Ok(None),
                        RawMessageErrorKind::JetStream(error)
                            if error.error_code() == ErrorCode::NO_MESSAGE_FOUND =>
                        {
                            Ok(None)
                        }
                        RawMessageErrorKind::JetStream(error) => Err(refusal(&error)),
                        _ => Err(unanswered(&error)),
                    };
                }
            }
        }
    }

    /// True if the log has an input or a task.
    async fn has_work(&self, stream: &Stream) -> bool {
        for kind in ["input.*", "task.*"] {
            if stream.get_last_raw_message_by_subject(&self.subject(kind)).await.is_ok() {
                return true;
            }
        }
        false
    }

    /// Sends a message. `only` lets the server refuse it if its subject has one already.
    pub async fn publish(
        &self,
        subject: String,
        from: Session,
        payload: Vec<u8>,
        only: bool,
    ) -> Result<PublishAckFuture, Trouble> {
        let mut message = PublishMessage::build()
            .payload(payload.into())
            .header(FROM, &format!("{from:016x}")[..]);
        if only {
            message = message.expected_last_subject_sequence(0);
        }
        self.jetstream.send_publish(subject, message).await.map_err(|error| publishing(&error))
    }

    /// Sends a message, and waits until it is stored.
    pub async fn store(
        &self,
        subject: String,
        from: Session,
        payload: Vec<u8>,
        only: bool,
    ) -> Result<Stored, Trouble> {
        stored(self.publish(subject, from, payload, only).await?.await)
    }
}

/// What a server's answer to a message means.
pub fn stored(
    answer: Result<jetstream::publish::PublishAck, PublishError>,
) -> Result<Stored, Trouble> {
    match answer {
        Ok(ack) => Ok(Stored::At(ack.sequence)),
        Err(error) => match error.kind() {
            PublishErrorKind::WrongLastSequence => Ok(Stored::Already),
            PublishErrorKind::MaxPayloadExceeded => Ok(Stored::TooLarge),
            _ => match source_code(&error) {
                Some(ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM) => Ok(Stored::TooLarge),
                _ => Err(publishing(&error)),
            },
        },
    }
}

fn publishing(error: &PublishError) -> Trouble {
    match source_code(error) {
        Some(code) if is_full(code) => Trouble::Full(innermost(error)),
        Some(_) => Trouble::Refused(innermost(error)),
        None => unanswered(error),
    }
}

fn source_code(error: &PublishError) -> Option<ErrorCode> {
    error.source()?.downcast_ref::<jetstream::Error>().map(jetstream::Error::error_code)
}

fn is_full(code: ErrorCode) -> bool {
    [
        ErrorCode::ACCOUNT_RESOURCES_EXCEEDED,
        ErrorCode::INSUFFICIENT_RESOURCES,
        ErrorCode::STORAGE_RESOURCES_EXCEEDED,
        ErrorCode::STREAM_STORE_FAILED,
        ErrorCode::STREAM_MAX_STREAM_BYTES_EXCEEDED,
    ]
    .contains(&code)
}

fn refusal(error: &jetstream::Error) -> Trouble {
    match error.error_code() {
        ErrorCode::JETSTREAM_NOT_ENABLED | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT => {
            Trouble::NoJetStream
        }
        code if is_full(code) => Trouble::Full(innermost(error)),
        _ => Trouble::Refused(innermost(error)),
    }
}

/// A request that has no answer: the server is away, or nothing there knows JetStream.
pub fn unanswered(error: &(dyn Error + 'static)) -> Trouble {
    let why = innermost(error);
    let nobody = why.contains("no responders") || why.contains("resource does not exist");
    if nobody { Trouble::NoJetStream } else { Trouble::Away(why) }
}

/// The innermost cause. None of the client's errors has a secret.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
