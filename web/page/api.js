// How the page asks the server. Every address is relative, so that the page works under any prefix.

// Problem is an answer that refuses a request, or no answer at all.
export class Problem extends Error {
  constructor(status, body = {}) {
    super(body.detail || body.title || (status ? `The server answered with the status ${status}.` : 'The server does not answer.'));
    Object.assign(this, { status, kind: body.kind, field: body.field, hint: body.hint, retryable: body.retryable, body });
    this.after = body.retryAfter ?? 0;
  }

  // all returns the single problems: those of several fields come together.
  get all() { return this.body.problems?.length ? this.body.problems : [{ ...this.body, detail: this.message }]; }
}

export class Api {
  constructor(base, ask = (...request) => fetch(...request)) {
    Object.assign(this, { base, ask, known: new Map() });
  }

  url(path, query = {}) {
    const url = new URL('api/' + path, this.base);
    for (const [key, value] of Object.entries(query)) {
      for (const one of [value].flat()) if (one !== undefined && one !== null && one !== '') url.searchParams.append(key, one);
    }
    return url.href;
  }

  // response makes a request. Its error is a Problem.
  async response(method, url, { body, headers, signal } = {}) {
    const request = { method, headers: { Accept: 'application/json', ...headers }, signal, cache: 'no-store', redirect: 'error' };
    if (body !== undefined) {
      request.headers['Content-Type'] = 'application/json';
      request.body = JSON.stringify(body);
    }
    let response;
    try {
      response = await this.ask(url, request);
    } catch (err) {
      if (err.name === 'AbortError') throw err;
      throw new Problem(0);
    }
    if (response.ok || response.status === 304) return response;
    throw new Problem(response.status, await response.json().catch(() => ({})));
  }

  // get returns the JSON of an address: the same value as long as the server says that it is unchanged.
  async get(path, query, signal) {
    const url = this.url(path, query), former = this.known.get(url);
    const response = await this.response('GET', url, { signal, headers: former && { 'If-None-Match': former.tag } });
    if (response.status === 304) return former.value;
    const value = await response.json(), tag = response.headers.get('ETag');
    this.known.delete(url);
    if (tag) this.known.set(url, { tag, value });
    if (this.known.size > 50) this.known.delete(this.known.keys().next().value);
    return value;
  }

  async send(method, path, body) {
    const response = await this.response(method, this.url(path), { body });
    const text = await response.text();
    return text ? JSON.parse(text) : {};
  }

  post(path, body = {}) { return this.send('POST', path, body); }
}

export const of = (id, ...rest) => ['conversations', encodeURIComponent(id), ...rest].join('/');
