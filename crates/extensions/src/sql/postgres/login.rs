//! Connecting to PostgreSQL: encryption as both want it, then who asks, and the proof.

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;
use script::Vu;
use tokio::time::timeout;

use super::super::common::call::SqlFailure;
use super::super::common::socket::Socket;
use super::messages::{broken, next, told};
use super::source::{PostgresSource, SslMode};

/// Iterations that a server may ask for; PostgreSQL's own servers ask for 4,096. More would be an attack on our time.
const MOST_ITERATIONS: u32 = 1 << 20;

/// Opens the socket, encrypted if it is to be.
pub async fn connect(vu: &Vu, source: &PostgresSource) -> Result<Socket, SqlFailure> {
    let mut socket = Socket::open(vu, &source.place, source.patience).await?;
    if source.ssl == SslMode::Disable || source.place.port == 0 {
        return Ok(socket);
    }
    frontend::ssl_request(&mut socket.sending);
    socket.send().await?;
    while socket.received.is_empty() {
        socket.receive().await?;
    }
    // One letter: yes or no.
    match (socket.received.split().first(), source.ssl) {
        (Some(b'S'), _) => {
            let configs = source.configs(vu).map_err(SqlFailure::lost)?;
            socket.encrypt(vu, &source.place.host, configs, source.patience).await
        }
        (_, SslMode::Prefer) => Ok(socket),
        _ => Err(SqlFailure::lost("pq: SSL is not enabled on the server: sslmode=disable in its name goes without")),
    }
}

/// Says who asks, and proves it. Gives what ends a statement, if the server said it.
pub async fn log_in(socket: &mut Socket, source: &PostgresSource) -> Result<Option<(i32, i32)>, SqlFailure> {
    let late = || SqlFailure::lost("pq: the server did not finish the login in time");
    timeout(source.patience, prove(socket, source)).await.map_err(|_| late())?
}

async fn prove(socket: &mut Socket, source: &PostgresSource) -> Result<Option<(i32, i32)>, SqlFailure> {
    let parameters = source.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    frontend::startup_message(parameters, &mut socket.sending).map_err(broken)?;
    socket.send().await?;
    let (mut key, mut scram) = (None, None);
    loop {
        match next(socket).await? {
            Message::AuthenticationOk => {}
            Message::AuthenticationCleartextPassword => answer(socket, password(source)?).await?,
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(source.user.as_bytes(), password(source)?, body.salt());
                answer(socket, hash.as_bytes()).await?;
            }
            Message::AuthenticationSasl(body) => scram = Some(begin_scram(socket, source, &body).await?),
            Message::AuthenticationSaslContinue(body) => {
                let scram = scram.as_mut().ok_or_else(out_of_order)?;
                check_iterations(body.data())?;
                scram.update(body.data()).map_err(unproven)?;
                frontend::sasl_response(scram.message(), &mut socket.sending).map_err(broken)?;
                socket.send().await?;
            }
            Message::AuthenticationSaslFinal(body) => {
                scram.as_mut().ok_or_else(out_of_order)?.finish(body.data()).map_err(unproven)?;
            }
            Message::BackendKeyData(body) => key = Some((body.process_id(), body.secret_key())),
            Message::ErrorResponse(body) => return Err(SqlFailure { is_usable: false, ..told(&body)? }),
            Message::ReadyForQuery(_) => return Ok(key),
            Message::ParameterStatus(_) | Message::NoticeResponse(_) => {}
            _ => {
                return Err(SqlFailure::lost(
                    "pq: the server wants a proof that is not offered: expected a password, MD5 or SCRAM-SHA-256",
                ));
            }
        }
    }
}

async fn begin_scram(
    socket: &mut Socket,
    source: &PostgresSource,
    body: &AuthenticationSaslBody,
) -> Result<ScramSha256, SqlFailure> {
    let offered: Vec<String> = body.mechanisms().map(|name| Ok(name.to_owned())).collect().map_err(broken)?;
    if !offered.iter().any(|name| name == SCRAM_SHA_256) {
        let text = format!("pq: the server offers {}, expected {SCRAM_SHA_256}", offered.join(", "));
        return Err(SqlFailure::lost(text));
    }
    let scram = ScramSha256::new(password(source)?, ChannelBinding::unsupported());
    frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut socket.sending).map_err(broken)?;
    socket.send().await?;
    Ok(scram)
}

/// The library computes as many iterations as the server names, and no timeout ends that.
pub(crate) fn check_iterations(challenge: &[u8]) -> Result<(), SqlFailure> {
    let count = challenge.split(|byte| *byte == b',').find_map(|field| field.strip_prefix(b"i="));
    let count = count.and_then(|count| std::str::from_utf8(count).ok()?.parse::<u32>().ok());
    match count.filter(|count| *count > MOST_ITERATIONS) {
        Some(count) => Err(SqlFailure::lost(format!(
            "pq: the server asks for {count} iterations of SCRAM-SHA-256, expected at most {MOST_ITERATIONS}"
        ))),
        None => Ok(()),
    }
}

async fn answer(socket: &mut Socket, password: &[u8]) -> Result<(), SqlFailure> {
    frontend::password_message(password, &mut socket.sending).map_err(broken)?;
    socket.send().await
}

fn password(source: &PostgresSource) -> Result<&[u8], SqlFailure> {
    let missing = || SqlFailure::lost("pq: the server wants a password, and the name of the database has none");
    source.password.as_deref().map(str::as_bytes).ok_or_else(missing)
}

fn out_of_order() -> SqlFailure {
    SqlFailure::lost("pq: the server continues a login that it did not begin")
}

fn unproven(error: std::io::Error) -> SqlFailure {
    SqlFailure::lost(format!("pq: the server's proof does not hold: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_that_would_take_hours_is_refused() {
        for (challenge, is_fine) in [
            ("r=abc,s=c2FsdA==,i=4096", true),
            ("r=abc,s=c2FsdA==,i=1048576", true),
            ("r=abc,s=c2FsdA==,i=1048577", false),
            ("r=abc,s=c2FsdA==,i=4294967295", false),
            // What is no number is the library's to refuse.
            ("r=abc,s=c2FsdA==,i=x", true),
        ] {
            assert_eq!(check_iterations(challenge.as_bytes()).is_ok(), is_fine, "{challenge}");
        }
        let why = check_iterations(b"i=4294967295").unwrap_err().message;
        assert_eq!(why, "pq: the server asks for 4294967295 iterations of SCRAM-SHA-256, expected at most 1048576");
    }
}
