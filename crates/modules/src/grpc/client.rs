//! `Client`: what it has loaded, its connection, and calls with one request and one response.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use grpc::frame::PREFIX;
use grpc::{Method, Schema};
use host::Phase;
use host::bytes;
use host::js::function::{Constructor, Opt, Rest, This};
use host::js::prelude::Func;
use host::js::{Array, Ctx, Exception, Object, Promise, Result, Value};
use host::native::{self, NativeClass};
use host::plain::{self, Args, Plain};

use super::call::{self, Bound, Ended};
use super::connect::{Connected, DialParams};
use super::params::CallParams;
use super::{message, reflect, response, schemas};
use script::Vu;
use script::arguments::{self, ArgumentError};
use script::go_error;

/// A client of the script.
#[derive(Default)]
pub struct GrpcClient {
    schemas: RefCell<Vec<Arc<Schema>>>,
    connected: RefCell<Option<Rc<Connected>>>,
}

/// What the script holds.
pub struct GrpcClientObject(Rc<GrpcClient>);

/// Why a call cannot be made.
pub const NOT_CONNECTED: &str = "no gRPC connection, you must call connect first";

/// How Go's standard service of health is called.
const HEALTH: &str = "/grpc.health.v1.Health/Check";
const HEALTH_PROTO: &str = "syntax = \"proto3\"; package grpc.health.v1; \
    message HealthCheckRequest { string service = 1; } message HealthCheckResponse { int32 status = 1; } \
    service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); }";

impl NativeClass for GrpcClientObject {
    const NAME: &'static str = "Client";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("load", Func::from(load))?;
        prototype.set("loadProtoset", Func::from(load_protoset))?;
        prototype.set("connect", Func::from(connect))?;
        prototype.set("invoke", plain::function::<Invoke>(prototype.ctx(), c"invoke", 0)?)?;
        prototype.set("asyncInvoke", Func::from(async_invoke))?;
        prototype.set("healthCheck", Func::from(health_check))?;
        prototype.set("close", Func::from(close))
    }
}

/// The class.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let make = |ctx: Ctx<'js>| native::object(&ctx, GrpcClientObject(Rc::default()));
    let constructor = Constructor::new_prototype(ctx, native::prototype::<GrpcClientObject>(ctx)?, make)?;
    constructor.set_name("Client")?;
    Ok(constructor)
}

/// The client behind a value of the script.
pub fn behind(value: &Value<'_>) -> Option<Rc<GrpcClient>> {
    native::with(value, |object: &GrpcClientObject| Rc::clone(&object.0))
}

fn of<'js>(ctx: &Ctx<'js>, this: &Value<'js>) -> Result<Rc<GrpcClient>> {
    behind(this).ok_or_else(|| Exception::throw_type(ctx, "this method belongs to a Client: call it on one"))
}

fn load<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, args: Rest<Value<'js>>) -> Result<Value<'js>> {
    let (client, vu) = (of(&ctx, &this)?, Vu::of(&ctx));
    if vu.phase() != Phase::Init {
        return Err(go_error::throw(&ctx, "load must be called in the init context"));
    }
    let mut args = args.0.into_iter();
    let mut imports = Vec::new();
    if let Some(list) = args.next().as_ref().and_then(Value::as_array) {
        for folder in list.iter::<Value<'js>>() {
            imports.push(bytes::to_text(&ctx, &folder?)?);
        }
    }
    let files: Vec<String> = args.map(|file| bytes::to_text(&ctx, &file)).collect::<Result<_>>()?;
    if files.is_empty() {
        return Ok(Array::new(ctx)?.into_value());
    }
    client.add(&ctx, schemas::compile(&vu, &imports, &files))
}

fn load_protoset<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, path: Opt<Value<'js>>) -> Result<Value<'js>> {
    let (client, vu) = (of(&ctx, &this)?, Vu::of(&ctx));
    if vu.phase() != Phase::Init {
        return Err(go_error::throw(&ctx, "load must be called in the init context"));
    }
    let path = arguments::text_or(&ctx, path, "")?;
    client.add(&ctx, schemas::protoset(&vu, &path))
}

fn connect<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    address: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<bool> {
    let (client, vu) = (of(&ctx, &this)?, Vu::of(&ctx));
    if vu.phase() == Phase::Init {
        let message = "connecting to a gRPC server in the init context is not supported";
        return Err(go_error::throw(&ctx, message));
    }
    let address = arguments::text_or(&ctx, address, "")?;
    let params = DialParams::from_js(&ctx, params.0.as_ref())?;
    client.close(&vu);
    let opened = vu.block_on(&ctx, async {
        let connected = params.open(&vu, address).await?;
        let described = match params.reflect {
            true => Some(reflect::schema(&vu, &connected, &params.reflect_metadata).await?),
            false => None,
        };
        Ok::<_, String>((connected, described))
    })?;
    let (connected, described) = opened.map_err(|why| go_error::throw(&ctx, &why))?;
    client.schemas.borrow_mut().extend(described);
    *client.connected.borrow_mut() = Some(Rc::new(connected));
    Ok(true)
}

fn close<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<()> {
    of(&ctx, &this)?.close(&Vu::of(&ctx));
    Ok(())
}

/// A call that can be made.
struct PreparedCall {
    connected: Rc<Connected>,
    bound: Rc<Bound>,
    params: CallParams,
    message: Vec<u8>,
}

impl PreparedCall {
    async fn run(&self, vu: &Vu, message: Vec<u8>) -> Ended {
        call::unary(vu, &self.connected, &self.bound, &self.params, message).await
    }
}

/// `client.invoke(method, request, params)`.
struct Invoke;

impl Plain for Invoke {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        let client = of(ctx, &args.this())?;
        let vu = Vu::of(ctx);
        let prepared = client.prepare(ctx, &vu, [args.get(0), args.get(1), args.get(2)])?;
        let mut prepared = prepared.map_err(|why| go_error::throw(ctx, &why))?;
        let message = std::mem::take(&mut prepared.message);
        let ended = vu.block_on(ctx, prepared.run(&vu, message))?;
        response::response(ctx, prepared.bound, ended, &prepared.params)
    }
}

fn async_invoke<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    method: Opt<Value<'js>>,
    request: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<Promise<'js>> {
    let (client, vu) = (of(&ctx, &this)?, Vu::of(&ctx));
    let prepared = client.prepare(&ctx, &vu, [method.0, request.0, params.0])?;
    let caller = Rc::clone(&vu);
    let work = async move {
        let mut prepared = prepared?;
        let message = std::mem::take(&mut prepared.message);
        let ended = prepared.run(&caller, message).await;
        Ok::<_, String>((prepared, ended))
    };
    vu.promise(&ctx, work, |ctx, outcome| match outcome {
        Ok((prepared, ended)) => response::response(ctx, prepared.bound, ended, &prepared.params),
        Err(why) => Err(go_error::throw(ctx, &why)),
    })
}

fn health_check<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, service: Opt<Value<'js>>) -> Result<Object<'js>> {
    let (client, vu) = (of(&ctx, &this)?, Vu::of(&ctx));
    let service = arguments::text_or(&ctx, service, "")?;
    let Some(connected) = client.connected() else { return Err(go_error::throw(&ctx, NOT_CONNECTED)) };
    let bound = match connected.known(HEALTH) {
        Some(bound) => bound,
        None => {
            let read = |name: &str| (name == "health.proto").then(|| Ok(String::from(HEALTH_PROTO)));
            let schema = Schema::compile(&[String::from("health.proto")], read).expect("it compiles: tests call it");
            let schema = Arc::new(schema);
            let bound = Bound::new(&schema, &schema.methods()[0], &connected);
            connected.learn(bound.map_err(|why| go_error::throw(&ctx, &why))?)
        }
    };
    let request = Object::new(ctx.clone())?;
    request.set("service", service)?;
    let mut message = vec![0; PREFIX];
    let plan = bound.method.input;
    let fits = message::encode(&ctx, &bound.schema, plan, request.as_value(), &mut message)?;
    fits.map_err(|why| go_error::throw(&ctx, &why))?;
    let params = CallParams::none();
    let ended = vu.block_on(&ctx, call::unary(&vu, &connected, &bound, &params, message))?;
    if ended.status.code != 0 {
        return Err(go_error::throw(&ctx, &reflect::told(&ended.status)));
    }
    let bytes = ended.message.unwrap_or_default();
    let answer = message::decode(&ctx, &bound.schema, bound.method.output, &bytes)?;
    answer.into_object().ok_or_else(|| go_error::throw(&ctx, "the server's answer is no health"))
}

impl GrpcClient {
    fn add<'js>(&self, ctx: &Ctx<'js>, loaded: std::result::Result<Arc<Schema>, String>) -> Result<Value<'js>> {
        let schema = loaded.map_err(|why| go_error::throw(ctx, &why))?;
        let list = schemas::listed(ctx, &schema)?;
        self.schemas.borrow_mut().push(schema);
        Ok(list)
    }

    fn close(&self, vu: &Vu) {
        if let Some(connected) = self.connected.take() {
            connected.streams.take().iter().filter_map(Weak::upgrade).for_each(|stream| stream.cancel());
            connected.channel.count(vu);
            connected.http1.iter().for_each(|client| client.close_idle());
        }
    }

    /// The connection, if there is one.
    pub fn connected(&self) -> Option<Rc<Connected>> {
        self.connected.borrow().clone()
    }

    /// A method of the connection; why not, in words.
    pub fn bind(&self, connected: &Connected, method: &str) -> std::result::Result<Rc<Bound>, String> {
        if method.is_empty() {
            return Err(String::from("method to invoke cannot be empty"));
        }
        if let Some(known) = connected.known(method) {
            return Ok(known);
        }
        let path = if method.starts_with('/') { String::from(method) } else { format!("/{method}") };
        let schemas = self.schemas.borrow();
        let found = schemas.iter().rev().find_map(|schema| {
            let method: &Method = schema.methods().iter().find(|method| method.path == path)?;
            Some((schema, method))
        });
        let Some((schema, method)) = found else {
            let methods = schemas.iter().flat_map(|schema| schema.methods());
            return Err(grpc::schema::no_method(&path, methods));
        };
        let bound = Bound::new(schema, method, connected)?;
        Ok(connected.learn(bound))
    }

    fn prepare<'js>(
        &self,
        ctx: &Ctx<'js>,
        vu: &Vu,
        [method, request, params]: [Option<Value<'js>>; 3],
    ) -> Result<std::result::Result<PreparedCall, String>> {
        if vu.phase() == Phase::Init {
            return Ok(Err(String::from("invoking RPC methods in the init context is not supported")));
        }
        let Some(connected) = self.connected() else { return Ok(Err(String::from(NOT_CONNECTED))) };
        let method = arguments::text_or(ctx, Opt(method), "")?;
        let bound = match self.bind(&connected, &method) {
            Ok(bound) => bound,
            Err(why) => return Ok(Err(why)),
        };
        let Some(request) = arguments::present(request) else {
            return Ok(Err(String::from("request cannot be nil")));
        };
        let params = match CallParams::from_js(ctx, params.as_ref()) {
            Ok(params) => params,
            Err(ArgumentError::Thrown(error)) => return Err(error),
            Err(ArgumentError::Refused(why)) => {
                return Ok(Err(format!("invalid GRPC's client.invoke() parameters: {why}")));
            }
        };
        let mut message = vec![0; PREFIX];
        if let Err(why) = message::encode(ctx, &bound.schema, bound.method.input, &request, &mut message)? {
            return Ok(Err(format!("unable to serialise request object to protocol buffer: {why}")));
        }
        Ok(Ok(PreparedCall { connected, bound, params, message }))
    }
}

impl Connected {
    /// A method that was called before.
    fn known(&self, method: &str) -> Option<Rc<Bound>> {
        let methods = self.methods.borrow();
        let is = |bound: &&Rc<Bound>| bound.method.path == method || bound.method.path[1..] == *method;
        methods.iter().find(is).cloned()
    }

    fn learn(&self, bound: Rc<Bound>) -> Rc<Bound> {
        self.methods.borrow_mut().push(Rc::clone(&bound));
        bound
    }
}
