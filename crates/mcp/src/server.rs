//! What the protocol asks of a server with tools alone; everything else of it is the crate `rmcp`'s.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::client::McpClient;
use crate::{Answer, Called, Server, Tools};

const NO_CLIENT: &str = "standard input ended, expected a client's request 'initialize'; this command is started by a \
                         program that speaks the Model Context Protocol";

/// Answers until standard input ends.
pub(crate) fn serve(server: Server, tools: impl Tools) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        let client = McpClient::open(server.print).map_err(|error| error.to_string())?;
        let tools = ToolServer { server, tools: Arc::new(tools), turn: Mutex::default() };
        let serving = tools.serve(client).await.map_err(|error| match error {
            ServerInitializeError::ConnectionClosed(_) => String::from(NO_CLIENT),
            other => other.to_string(),
        })?;
        serving.waiting().await.map_err(|error| error.to_string())?;
        Ok(())
    })
}

struct ToolServer<T> {
    server: Server,
    tools: Arc<T>,
    /// One call at a time: two tests at once would disturb each other.
    turn: Mutex<()>,
}

impl<T: Tools> ToolServer<T> {
    /// Runs a tool on a thread of its own, so that the client can cancel it meanwhile.
    async fn run(&self, name: String, given: Value, asked: &RequestContext<RoleServer>) -> Option<Called> {
        let _turn = tokio::select! {
            turn = self.turn.lock() => turn,
            () = asked.ct.cancelled() => return None,
        };
        let (tools, is_cancelled) = (Arc::clone(&self.tools), Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&is_cancelled);
        let mut call = tokio::task::spawn_blocking(move || tools.call(&name, &given, &flag));
        tokio::select! {
            called = &mut call => called.ok(),
            () = asked.ct.cancelled() => {
                is_cancelled.store(true, Relaxed);
                // The test is asked to end; the next call waits until it has.
                let _ended = call.await;
                None
            }
        }
    }
}

impl<T: Tools> ServerHandler for ToolServer<T> {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new(self.server.name, self.server.version);
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(self.server.instructions)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = serde_json::from_value(self.tools.list()).expect("tools have the form of the protocol");
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = Value::Object(request.arguments.unwrap_or_default());
        let Some(answered) = self.run(request.name.into_owned(), given, &context).await else {
            return Err(ErrorData::internal_error("the call was cancelled", None));
        };
        let answered = answered.map_err(|message| ErrorData::invalid_params(message, None))?;
        let is_error = answered.is_err();
        let Answer { text, value } =
            answered.unwrap_or_else(|message| Answer { value: json!({ "error": message }), text: message });
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.structured_content = Some(value);
        result.is_error = Some(is_error);
        Ok(result.into())
    }
}
