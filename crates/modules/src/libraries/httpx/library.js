// httpx: requests with a base URL, headers and tags of a session. VERSION is 1 to 6 for 0.0.1 to 0.0.6 and 10 for 0.1.0.
import http from 'k6/http';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'];

/** Whether it is a value of `http.url`. */
const isNamed = (url) => VERSION >= 5 && typeof url === 'object' && ['name', 'url', 'clean_url'].every((key) => key in url);

/** A request for `execute` and `batch`. Takes the key `body` out of its params. */
class Request {
  constructor(method, url, params) {
    const own = params || {};
    this.method = method;
    this.url = url;
    this.body = own.body || null;
    delete own.body;
    this.params = own;
    if (isNamed(url)) {
      this.url = url.url;
      this.addTag('name', url.name);
    }
  }

  addHeader(name, value) {
    this.params.headers = Object.assign({}, this.params.headers, { [name]: value });
    return this;
  }

  addTag(name, value) {
    this.params.tags = Object.assign({}, this.params.tags, { [name]: value });
    return this;
  }
}

const requestOf = (method) => class extends Request {
  constructor(url, params) {
    super(method, url, params);
  }
};
const Get = requestOf('GET');
const Head = requestOf('HEAD');
const Post = requestOf('POST');
const Put = requestOf('PUT');
const Delete = requestOf('DELETE');
const Connect = requestOf('CONNECT');
const Options = requestOf('OPTIONS');
const Trace = requestOf('TRACE');
const Patch = requestOf('PATCH');

const PARAMS = VERSION < 3 ? 'params' : 'k6params';

/** Params of a session below those of a request; headers and tags are joined. */
function merged(below, above) {
  const [under, over] = [below || {}, above || {}];
  const both = (key) => Object.assign({}, under[key], over[key]);
  return Object.assign({}, under, over, { headers: both('headers'), tags: both('tags') });
}

class Httpx {
  /** `baseURL`, `headers`, `tags`, `errorMetric`, `errorMetricCondition`; every other option is a param of k6/http for all requests. */
  constructor(options = {}) {
    const { baseURL = '', headers = {}, tags = {} } = options;
    const { errorMetric = null, errorMetricCondition = ({ status }) => status >= 200 && status <= 399, otherParams = {} } = options;
    this[PARAMS] = { headers, tags };
    if (VERSION >= 3) {
      // The script's object loses what is no param, as in k6.
      for (const key of ['baseURL', 'errorMetricCondition', 'headers', 'tags', 'errorMetric']) delete options[key];
    }
    Object.assign(this[PARAMS], VERSION >= 3 ? options : otherParams);
    this.baseURL = baseURL;
    if (VERSION >= 2) this.lastRequest = { responseObject: null, responseChainDuration: null };
    if (VERSION >= 3) Object.assign(this, { errorMetric, errorMetricCondition });
  }

  setBaseUrl(baseURL) {
    this.baseURL = baseURL;
  }

  addHeaders(headers) {
    this[PARAMS].headers = Object.assign(this[PARAMS].headers, headers);
  }

  addHeader(name, value) {
    this.addHeaders({ [name]: value });
  }

  addTags(tags) {
    this[PARAMS].tags = Object.assign(this[PARAMS].tags, tags);
  }

  addTag(name, value) {
    this.addTags({ [name]: value });
  }

  clearTag(name) {
    delete this[PARAMS].tags[name];
  }

  clearHeader(name) {
    delete this[PARAMS].headers[name];
  }

  _merge_params(below, above) {
    return merged(below, above);
  }

  _getMergedSessionParams(params) {
    return merged(this[PARAMS], params);
  }

  execute(request) {
    return this.request(request.method, request.url, request.body, request.params);
  }

  request(...args) {
    refuse('request', args);
    const [method, url, body, params] = addressed(this, args);
    const start = new Date();
    const response = http.request(method, url, body, params);
    const end = new Date();
    if (VERSION >= 3) this.postRequestHook(response, params, start, end);
    else if (VERSION === 2) remember(this, response, end - start);
    return response;
  }

  /** Requests at once: of classes such as `Get`, or arrays of method, path, body and params. Others are passed over. */
  batch(requests, shared) {
    const list = [];
    requests.forEach((one) => {
      if (!Array.isArray(one) && !(one instanceof Request)) return;
      const [method, url, body, params] = Array.isArray(one) ? one : [one.method, one.url, one.body, one.params];
      const content = Array.isArray(one) ? body || null : body;
      list.push([method, this.baseURL + url, content, this._getMergedSessionParams(this._merge_params(shared, params))]);
    });
    const start = new Date();
    const responses = http.batch(list);
    if (VERSION >= 2) remember(this, responses, new Date() - start);
    return responses;
  }
}

function remember(session, responseObject, responseChainDuration) {
  Object.assign(session.lastRequest, { responseObject, responseChainDuration });
}

function validate(method) {
  if (!METHODS.includes(method)) throw new Error(`Invalid method: ${method}. Expected one of ${METHODS}`);
}

function refuse(name, args) {
  if (VERSION < 10) return;
  if (args.length < 2) throw new Error(`${name}: found ${args.length} arguments, expected a method and a URL`);
  validate(args[0]);
}

/** What k6/http takes for a request of the session. */
function addressed(session, [method, url, body, params]) {
  const all = session._getMergedSessionParams(params);
  let address = url;
  if (isNamed(url)) {
    all.tags.name = url.name;
    address = url.url;
  }
  const isWhole = VERSION >= 6 && address.startsWith('http');
  return [method, isWhole ? address : session.baseURL + address, body, all];
}

/** Methods that this version has. */
const has = (method) => {
  if (method === 'CONNECT') return VERSION >= 10;
  return VERSION >= 4 || !['HEAD', 'OPTIONS', 'TRACE'].includes(method);
};
for (const method of METHODS.filter(has)) {
  const name = method.toLowerCase();
  Httpx.prototype[name] = function (url, body, params) {
    return this.request(method, url, body, params);
  };
  if (VERSION < 10) continue;
  Httpx.prototype[`async${method[0]}${name.slice(1)}`] = function (url, body, params) {
    return this.asyncRequest(method, url, body, params);
  };
}

if (VERSION >= 2) {
  Object.defineProperty(Httpx.prototype, 'lastRequestChainDuration', {
    get() {
      return this.lastRequest.responseChainDuration;
    },
  });
}
if (VERSION >= 3) {
  /** What every request of the session ends with: the error metric, and what is remembered. */
  Httpx.prototype.postRequestHook = function (response, params, start, end) {
    if (this.errorMetric) {
      const isExpected = params.expect || this.errorMetricCondition;
      this.errorMetric.add(!isExpected(response));
    }
    remember(this, response, end - start);
  };
}
if (VERSION >= 10) {
  Httpx.prototype.validateMethod = validate;
  Httpx.prototype.asyncRequest = function (...args) {
    refuse('asyncRequest', args);
    return http.asyncRequest(...addressed(this, args));
  };
}

export { Httpx, Request, Get, Post, Put, Patch, Delete, Options };
