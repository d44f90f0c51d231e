//! What the protocol asks of a server with tools alone; everything else of it is the crate `rmcp`'s.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::bounds::Bounds;
use super::tools::{self, Answer};

const INSTRUCTIONS: &str = "Load tests with k6 scripts. Validate a script first, run it for some seconds, and read the \
                            judgement before the figures: figures of an INVALID run are no evidence. Differences \
                            between two runs prove little; compare_results says what is proven.";

/// The server.
pub(super) struct ToolServer {
    bounds: Arc<Bounds>,
    /// One call at a time: two tests at once would disturb each other.
    turn: Mutex<()>,
}

impl ToolServer {
    pub(super) fn new(bounds: Bounds) -> ToolServer {
        ToolServer { bounds: Arc::new(bounds), turn: Mutex::default() }
    }

    /// Runs a tool on a thread of its own, so that the client can cancel it meanwhile.
    async fn run(&self, name: String, given: Value, asked: &RequestContext<RoleServer>) -> Option<tools::Called> {
        let _turn = tokio::select! {
            turn = self.turn.lock() => turn,
            () = asked.ct.cancelled() => return None,
        };
        let (bounds, is_cancelled) = (Arc::clone(&self.bounds), Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&is_cancelled);
        let mut call = tokio::task::spawn_blocking(move || tools::call(&name, &given, &bounds, &flag));
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

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new("onrush", env!("CARGO_PKG_VERSION"));
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = serde_json::from_value(tools::list()).expect("tools have the form of the protocol");
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
