//! One connection to MySQL: a statement out, its results in.

use std::sync::Arc;

use mysql_common::Value;
use mysql_common::constants::{Command, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::misc::raw::RawInt;
use mysql_common::misc::raw::int::LenEnc;
use mysql_common::packets::{Column, ComStmtClose, ComStmtExecuteRequestBuilder, StmtPacket};
use mysql_common::proto::{Binary, MyDeserialize, Text};
use mysql_common::row::RowDeserializer;
use mysql_common::value::ServerSide;
use script::Vu;
use tokio::time::timeout;

use super::super::common::call::{Answer, SqlFailure, Statement};
use super::login;
use super::packets::{Packets, broken};
use super::source::MysqlSource;
use super::values;

/// First byte of a packet by which the server asks for a file of the client.
const LOCAL_FILE: u8 = 0xfb;
const OK: u8 = 0;

/// An open connection, ready for statements.
pub struct MysqlConnection {
    packets: Packets,
    reads_times: bool,
    writes_parameters: bool,
    silence: Option<std::time::Duration>,
}

/// How values of rows are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Binary,
}

impl MysqlConnection {
    /// Connects, logs in, and sets the session's variables.
    pub async fn open(vu: &Vu, source: &MysqlSource) -> Result<MysqlConnection, SqlFailure> {
        let late = || SqlFailure::lost("the server did not finish the login in time");
        let packets = timeout(source.patience, login::connect(vu, source)).await.map_err(|_| late())??;
        let (reads_times, writes_parameters, silence) = (source.reads_times, source.writes_parameters, source.silence);
        let mut connection = MysqlConnection { packets, reads_times, writes_parameters, silence };
        if !source.variables.is_empty() {
            let set: Vec<String> = source.variables.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let set = format!("SET {}", set.join(", "));
            let outcome = connection.text(&set).await;
            connection.packets.count(vu);
            outcome.map_err(|failure| SqlFailure { is_usable: false, ..failure })?;
        }
        Ok(connection)
    }

    /// One statement.
    pub async fn run(&mut self, vu: &Vu, statement: &Statement) -> Result<Answer, SqlFailure> {
        let silence = self.silence;
        let exchange = async {
            match silence {
                None => self.exchange(statement).await,
                Some(limit) => match timeout(limit, self.exchange(statement)).await {
                    Ok(outcome) => outcome,
                    Err(_) => {
                        Err(SqlFailure::lost(format!("invalid connection: no answer within readTimeout, {limit:?}")))
                    }
                },
            }
        };
        let outcome = match statement.timeout {
            None => exchange.await,
            Some(limit) => timeout(limit, exchange).await.unwrap_or_else(|_| Err(SqlFailure::too_late())),
        };
        self.packets.count(vu);
        outcome
    }

    async fn exchange(&mut self, statement: &Statement) -> Result<Answer, SqlFailure> {
        if statement.args.is_empty() {
            return self.text(&statement.text).await;
        }
        let values = statement.args.iter().map(values::write).collect::<Result<Vec<Value>, String>>();
        let values = values.map_err(SqlFailure::refused)?;
        match self.writes_parameters {
            true => self.text(&written(&statement.text, &values)?).await,
            false => self.prepared(&statement.text, &values).await,
        }
    }

    async fn text(&mut self, text: &str) -> Result<Answer, SqlFailure> {
        self.packets.command(Command::COM_QUERY as u8, text.as_bytes()).await?;
        self.results(Form::Text).await
    }

    async fn prepared(&mut self, text: &str, values: &[Value]) -> Result<Answer, SqlFailure> {
        self.packets.command(Command::COM_STMT_PREPARE as u8, text.as_bytes()).await?;
        self.packets.next().await?;
        let prepared: StmtPacket = self.packets.read(())?;
        for count in [prepared.num_params(), prepared.num_columns()] {
            if count > 0 {
                self.columns(count.into()).await?;
            }
        }
        let outcome = self.execute(&prepared, values).await;
        if outcome.as_ref().map_or_else(|failure| failure.is_usable, |_| true) {
            // It has no answer.
            self.packets.request(&ComStmtClose::new(prepared.statement_id())).await?;
        }
        outcome
    }

    async fn execute(&mut self, prepared: &StmtPacket, values: &[Value]) -> Result<Answer, SqlFailure> {
        let wanted = usize::from(prepared.num_params());
        if wanted != values.len() {
            return Err(SqlFailure::refused(format!("sql: expected {wanted} arguments, got {}", values.len())));
        }
        let (request, is_too_long) = ComStmtExecuteRequestBuilder::new(prepared.statement_id()).build(values);
        if is_too_long {
            return Err(SqlFailure::refused("sql: the parameters are longer than 16 MiB, which one packet holds"));
        }
        self.packets.request(&request).await?;
        self.results(Form::Binary).await
    }

    /// All results of a statement: the rows of the first, the effect of the last.
    async fn results(&mut self, form: Form) -> Result<Answer, SqlFailure> {
        let (mut answer, mut is_first) = (Answer::default(), true);
        loop {
            self.packets.next().await?;
            let status = match self.packets.packet().first() {
                Some(&OK) => {
                    let ok = self.packets.ok()?;
                    answer.affected = ok.affected_rows();
                    answer.last_id = Some(ok.last_insert_id().unwrap_or(0) as i64);
                    ok.status_flags()
                }
                Some(&LOCAL_FILE) => return Err(broken("it asks for a file of this machine, which was not offered")),
                _ => {
                    let count: RawInt<LenEnc> = self.packets.read(())?;
                    answer.last_id = answer.last_id.or(Some(0));
                    self.rows(*count, form, is_first, &mut answer).await?
                }
            };
            if !status.contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS) {
                return Ok(answer);
            }
            is_first = false;
        }
    }

    async fn rows(
        &mut self,
        count: u64,
        form: Form,
        is_first: bool,
        answer: &mut Answer,
    ) -> Result<StatusFlags, SqlFailure> {
        let columns: Arc<[Column]> = self.columns(count).await?.into();
        if is_first {
            answer.columns = columns.iter().map(|column| column.name_str().into_owned()).collect();
        }
        loop {
            self.packets.next().await?;
            if self.packets.is_end() {
                return Ok(self.packets.end()?.status_flags());
            }
            if !is_first {
                continue;
            }
            let mut packet = ParseBuf(self.packets.packet());
            let row = match form {
                Form::Text => RowDeserializer::<(), Text>::deserialize(Arc::clone(&columns), &mut packet)
                    .map(RowDeserializer::into_inner),
                Form::Binary => RowDeserializer::<ServerSide, Binary>::deserialize(Arc::clone(&columns), &mut packet)
                    .map(RowDeserializer::into_inner),
            };
            let values = row.map_err(broken)?.unwrap();
            let read = columns.iter().zip(values).map(|(column, value)| values::read(column, value, self.reads_times));
            answer.cells.extend(read);
        }
    }

    /// Descriptions of columns, and the end of their list.
    async fn columns(&mut self, count: u64) -> Result<Vec<Column>, SqlFailure> {
        let mut columns = Vec::new();
        for _ in 0..count {
            self.packets.next().await?;
            columns.push(self.packets.read::<Column>(())?);
        }
        self.packets.next().await?;
        if self.packets.is_end() { Ok(columns) } else { Err(broken("a list of columns does not end")) }
    }

    /// Whether nothing came since the last answer.
    pub fn is_quiet(&mut self) -> bool {
        self.packets.is_quiet()
    }
}

/// The statement with its parameters in their places.
fn written(text: &str, values: &[Value]) -> Result<String, SqlFailure> {
    let wanted = text.matches('?').count();
    if wanted != values.len() {
        return Err(SqlFailure::refused(format!("sql: expected {wanted} arguments, got {}", values.len())));
    }
    let mut parts = text.split('?');
    let mut written = parts.next().unwrap_or_default().to_owned();
    for (part, value) in parts.zip(values) {
        written += &value.as_sql(false);
        written += part;
    }
    Ok(written)
}
