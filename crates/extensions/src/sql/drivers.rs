//! The drivers that are built in: how each reads the name of a database, and its connections.

use script::Vu;

use super::common::call::{Answer, SqlFailure, Statement};
use super::mysql::{MysqlConnection, MysqlSource};
use super::postgres::{PostgresConnection, PostgresSource};
use super::sqlite::{SqliteConnection, SqliteSource};

/// A driver: the name of its symbol, and how it reads the name of a database.
pub struct Driver {
    /// `postgres`, as the symbol and the module are called.
    pub name: &'static str,
    /// The error says what is wrong with the name. Variables of the environment stand for what it lacks.
    pub read: fn(&str, Environment<'_>) -> Result<Source, String>,
}

/// A variable of the test's environment.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// All of them.
pub const DRIVERS: &[Driver] = &[
    Driver { name: "mysql", read: |name, _| Ok(Source::Mysql(Box::new(MysqlSource::read(name)?))) },
    Driver {
        name: "postgres",
        read: |name, environment| Ok(Source::Postgres(Box::new(PostgresSource::read(name, environment)?))),
    },
    Driver { name: "sqlite3", read: |name, _| Ok(Source::Sqlite(SqliteSource::read(name)?)) },
];

/// What a driver knows of a database before it connects.
pub enum Source {
    /// PostgreSQL.
    Postgres(Box<PostgresSource>),
    /// MySQL, MariaDB.
    Mysql(Box<MysqlSource>),
    /// A file of SQLite, or memory.
    Sqlite(SqliteSource),
}

/// An open connection.
pub enum SqlConnection {
    /// To PostgreSQL.
    Postgres(Box<PostgresConnection>),
    /// To MySQL, MariaDB.
    Mysql(Box<MysqlConnection>),
    /// To a file of SQLite.
    Sqlite(Box<SqliteConnection>),
}

impl SqlConnection {
    /// Connects. SQLite opens its file.
    pub async fn open(vu: &Vu, source: &Source) -> Result<SqlConnection, SqlFailure> {
        Ok(match source {
            Source::Postgres(source) => SqlConnection::Postgres(Box::new(PostgresConnection::open(vu, source).await?)),
            Source::Mysql(source) => SqlConnection::Mysql(Box::new(MysqlConnection::open(vu, source).await?)),
            Source::Sqlite(source) => SqlConnection::Sqlite(Box::new(SqliteConnection::open(source).await?)),
        })
    }

    /// One call. A connection whose call failed for good, or was dropped, must not be used again.
    pub async fn run(&mut self, vu: &Vu, statement: &Statement) -> Result<Answer, SqlFailure> {
        match self {
            SqlConnection::Postgres(connection) => connection.run(vu, statement).await,
            SqlConnection::Mysql(connection) => connection.run(vu, statement).await,
            SqlConnection::Sqlite(connection) => connection.run(statement).await,
        }
    }

    /// Whether the server has not closed it while it was idle.
    pub fn is_usable(&mut self) -> bool {
        match self {
            SqlConnection::Postgres(connection) => connection.is_quiet(),
            SqlConnection::Mysql(connection) => connection.is_quiet(),
            SqlConnection::Sqlite(_) => true,
        }
    }
}
