//! The params of a call, with k6's refusals.

use std::sync::Arc;
use std::time::Duration;

use grpc::metadata;
use host::bytes;
use host::js::object::Filter;
use host::js::{Coerced, Ctx, FromJs, Value};
use host::kind::{BufferKind, Kind};

use crate::http::common::refusal::Refusal;
use crate::http::request::params as http_params;
use crate::http::samples::sampler::RequestTags;
use script::arguments::ArgumentError;

/// The time that a call may take, unless the script says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// What params say.
pub struct CallParams {
    /// Names in lower case, values as header fields have them.
    pub metadata: Vec<(String, Vec<u8>)>,
    /// Metadata that cannot be sent, in words: the call fails with it.
    pub problem: Option<String>,
    /// Tags but `name`.
    pub tags: Option<RequestTags>,
    /// The `name` tag.
    pub name: Option<Arc<str>>,
    /// For the whole call; none when the script gave none, or 0.
    pub timeout: Option<Duration>,
    /// The answer is not made a value.
    pub discards: bool,
    /// Answers are the bytes of their messages.
    pub is_raw: bool,
}

impl CallParams {
    /// The default.
    pub fn none() -> CallParams {
        CallParams {
            metadata: Vec::new(),
            problem: None,
            tags: None,
            name: None,
            timeout: None,
            discards: false,
            is_raw: false,
        }
    }

    /// Of a call that is not a stream, k6 limits the time even if the script does not.
    pub fn time(&self) -> Duration {
        self.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Reads params. A refusal is the text behind k6's prefix.
    pub fn from_js<'js>(
        ctx: &Ctx<'js>,
        value: Option<&Value<'js>>,
    ) -> std::result::Result<CallParams, ArgumentError<String>> {
        let mut params = CallParams::none();
        let Some(value) = value else { return Ok(params) };
        if value.is_string() {
            return Err(ArgumentError::Refused(String::from("unknown param: \"0\"")));
        }
        let Some(object) = value.as_object() else { return Ok(params) };
        for entry in object.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
            let (key, value) = entry?;
            let key = bytes::to_text(ctx, &key)?;
            match key.as_str() {
                "metadata" => {
                    params.metadata = read_metadata(ctx, "metadata", &value, &mut params.problem)?;
                }
                "tags" => {
                    let short = |refusal: Refusal| {
                        let why = refusal.message.trim_start_matches("invalid HTTP request metric tags: ");
                        format!("metric tags: {why}")
                    };
                    (params.tags, params.name) = http_params::tags(ctx, &value).map_err(|error| error.map(short))?;
                }
                "timeout" => {
                    let time = http_params::timeout(&value).map_err(|error| error.map(|refusal| refusal.message))?;
                    params.timeout = (!time.is_zero()).then_some(time);
                }
                "discardResponseMessage" => params.discards = Coerced::<bool>::from_js(ctx, value)?.0,
                "responseType" => {
                    let given = bytes::text(&value)?;
                    params.is_raw = match given.as_deref() {
                        Some("binary") => true,
                        Some("object") => false,
                        _ => {
                            let found = given.map_or_else(|| value.type_name().to_owned(), |text| format!("{text:?}"));
                            let why = format!("invalid responseType: found {found}, expected \"object\" or \"binary\"");
                            return Err(ArgumentError::Refused(why));
                        }
                    };
                }
                _ => return Err(ArgumentError::Refused(format!("unknown param: {key:?}"))),
            }
        }
        Ok(params)
    }
}

/// Reads metadata; what cannot be sent goes to `problem`, because k6 tells it with the status of the call.
pub fn read_metadata<'js>(
    ctx: &Ctx<'js>,
    param: &str,
    value: &Value<'js>,
    problem: &mut Option<String>,
) -> std::result::Result<Vec<(String, Vec<u8>)>, ArgumentError<String>> {
    let refused = |why: String| ArgumentError::Refused(format!("invalid {param} param: {why}"));
    let mut fields = Vec::new();
    let object = match Kind::of(value) {
        Kind::Nothing => return Ok(fields),
        Kind::Plain(object) | Kind::Other(object) => object,
        _ => return Err(refused(String::from("must be an object with key-value pairs"))),
    };
    for entry in object.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
        let (key, value) = entry?;
        let key = bytes::to_text(ctx, &key)?;
        let name = key.to_ascii_lowercase();
        let (text, shown) = match Kind::of(&value) {
            // Beyond k6, which takes a Uint8Array alone: buffers and other views are bytes too.
            Kind::Buffer(BufferKind::Buffer | BufferKind::Typed(_) | BufferKind::View)
                if metadata::is_binary(&name) =>
            {
                let binary = bytes::read(ctx, &value, metadata::encode_binary)?.unwrap_or_default();
                (binary, String::new())
            }
            _ if metadata::is_binary(&name) => return Err(refused(format!("{key:?} value must be binary"))),
            Kind::Text(_) => {
                let text = bytes::to_text(ctx, &value)?;
                (text.clone(), text)
            }
            _ => return Err(refused(format!("{key:?} value must be a string"))),
        };
        // Fields of HTTP/2 and of gRPC itself are the client's, as in grpc-go.
        let is_ours = name.starts_with(':')
            || name.starts_with("connect-")
            || ["content-type", "user-agent", "te", "grpc-timeout", "grpc-encoding", "grpc-accept-encoding"]
                .contains(&name.as_str());
        if is_ours {
            continue;
        }
        *problem = problem.take().or_else(|| metadata::problem(&name, &shown));
        fields.push((name, text.into_bytes()));
    }
    Ok(fields)
}
