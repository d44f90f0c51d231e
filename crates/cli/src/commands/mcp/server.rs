//! What the protocol asks of a server with tools alone; everything else of it is the crate `rmcp`'s.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use super::bounds::Bounds;
use super::tools::{self, Answer};

const INSTRUCTIONS: &str = "Load tests with k6 scripts. Validate a script first, run it for some seconds, and read the \
                            judgement before the figures: figures of an INVALID run are no evidence. Differences \
                            between two runs prove little; compare_results says what is proven.";

/// The server.
pub(super) struct ToolServer {
    pub(super) bounds: Bounds,
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

    /// Nothing waits in here, so calls are answered one after the other.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = Value::Object(request.arguments.unwrap_or_default());
        let answered = tools::call(&request.name, &given, &self.bounds);
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
