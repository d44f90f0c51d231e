// httpx: requests with a base URL, headers and tags of a session, as scripts import them from
// https://jslib.k6.io/httpx/VERSION/index.js.
import http from 'k6/http';

/** A request for `Httpx.batch`. */
export class Request {
  constructor(method, url, body = null, params = {}) {
    Object.assign(this, { method, url, body, params });
  }
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE'];
const classOf = (method) => class extends Request {
  constructor(url, body, params) {
    super(method, url, body, params);
  }
};
export const [Get, Post, Put, Patch, Delete, Head, Options, Trace] = METHODS.map(classOf);

export class Httpx {
  /** `baseURL`, `headers`, `tags`, `timeout` in milliseconds, and any other param of k6/http for all requests. */
  constructor({ baseURL = '', headers = {}, tags = {}, timeout = 60000, ...params } = {}) {
    Object.assign(this, { baseURL, headers: { ...headers }, tags: { ...tags }, timeout, params });
  }

  setBaseUrl(baseURL) {
    this.baseURL = baseURL;
  }

  addHeader(name, value) {
    this.headers[name] = value;
  }

  addHeaders(headers) {
    Object.assign(this.headers, headers);
  }

  removeHeader(name) {
    delete this.headers[name];
  }

  clearHeader(name) {
    delete this.headers[name];
  }

  addTag(name, value) {
    this.tags[name] = value;
  }

  addTags(tags) {
    Object.assign(this.tags, tags);
  }

  removeTag(name) {
    delete this.tags[name];
  }

  clearTag(name) {
    delete this.tags[name];
  }

  request(method, url, body = null, params = {}) {
    return http.request(method, this.address(url), body, this.paramsWith(params, url));
  }

  asyncRequest(method, url, body = null, params = {}) {
    return http.asyncRequest(method, this.address(url), body, this.paramsWith(params, url));
  }

  /** Requests at once; `params` go to all of them. */
  batch(requests, params = {}) {
    return http.batch(requests.map((one) => [
      one.method,
      this.address(one.url),
      one.body,
      this.paramsWith({
        ...params,
        ...one.params,
        headers: { ...params?.headers, ...one.params?.headers },
        tags: { ...params?.tags, ...one.params?.tags },
      }, one.url),
    ]));
  }

  /** The base URL in front, except of a whole address. */
  address(url) {
    const text = isNamed(url) ? url.url : url;
    return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${this.baseURL}${text}`;
  }

  /** A value of `http.url` gives the request its name. */
  paramsWith(params, url) {
    const named = isNamed(url) ? { name: this.address(url.name) } : {};
    return {
      timeout: this.timeout,
      ...this.params,
      ...params,
      headers: { ...this.headers, ...params?.headers },
      tags: { ...named, ...this.tags, ...params?.tags },
    };
  }
}

const isNamed = (url) => url !== null && typeof url === 'object' && typeof url.name === 'string' && typeof url.url === 'string';

for (const method of METHODS) {
  const name = method.toLowerCase();
  Httpx.prototype[name] = function (url, body, params) {
    return this.request(method, url, body, params);
  };
  Httpx.prototype[`async${method[0]}${name.slice(1)}`] = function (url, body, params) {
    return this.asyncRequest(method, url, body, params);
  };
}
Httpx.prototype.del = Httpx.prototype.delete;

export default Httpx;
