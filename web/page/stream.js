// A conversation as it is followed: its facts, once and in order, the texts that are being written, and what the server says of it.
import { Course } from './course.js';
import { Problem, of } from './api.js';
import { over } from './words.js';

const first = 400; // facts before the conversation is shown
const page = 1000; // facts a request
const quiet = 45000; // milliseconds without a sign after which a connection is taken for dead
const delays = [1000, 2000, 4000, 8000, 15000];

// Parser reads server-sent events from pieces of text.
export class Parser {
  constructor(take) {
    Object.assign(this, { take, rest: '', event: {} });
  }

  feed(text) {
    const all = (this.rest + text).split('\n');
    this.rest = all.pop();
    for (let one of all) {
      if (one.endsWith('\r')) one = one.slice(0, -1);
      if (one === '') {
        if (this.event.data !== undefined) this.take(this.event);
        this.event = {};
        continue;
      }
      const at = one.indexOf(':');
      if (at === 0) continue;
      const name = at < 0 ? one : one.slice(0, at), value = at < 0 ? '' : one.slice(at + 1).replace(/^ /, '');
      this.event[name] = name === 'data' && this.event.data !== undefined ? `${this.event.data}\n${value}` : value;
    }
  }
}

// spoken returns the text of a call after a chunk of it: the text up to the place that the chunk names, then the chunk's.
export function spoken(former, chunk) {
  const text = former && (former.attempt === chunk.attempt || chunk.units > 0) ? former : { text: '', thoughts: '', written: 0 };
  const next = { ...text, call: chunk.call, attempt: chunk.attempt, by: chunk.by, missing: chunk.missing ?? 0 };
  if (chunk.schema) return { ...next, written: text.written + chunk.text.length };
  const name = chunk.reasoning ? 'thoughts' : 'text';
  next[name] = text[name].slice(0, chunk.units) + chunk.text;
  return next;
}

export class Conversation {
  constructor(api, id, { idle = (fn) => setTimeout(fn, 50), hidden = () => document.hidden, view = [] } = {}) {
    Object.assign(this, { api, id, idle, hidden, view });
    this.listeners = new Map();
    this.reset();
    this.read = null;
    this.config = {};
    this.settings = {};
    this.seats = new Map(); // by name: of the config, with a colour
    this.link = 'loading'; // loading, live, waiting, asleep, held, full, over, refused
    this.problem = null;
    this.tries = 0;
    this.closed = new AbortController();
  }

  reset() {
    this.facts = []; // in the order of their numbers
    this.last = 0;
    this.whole = false; // whether the first fact is there
    this.texts = new Map();
    this.course = new Course(0);
  }

  // on has a function called after changes: of 'facts', 'read', 'link', or of the text of the call that is named.
  on(what, fn) {
    const all = this.listeners.get(what) ?? new Set();
    this.listeners.set(what, all.add(fn));
    return () => all.delete(fn);
  }

  tell(what) { for (const fn of this.listeners.get(what) ?? []) fn(); }

  // open loads the conversation and follows it until close is called.
  async open() {
    try {
      await this.ask();
      await this.details();
      await this.catchUp();
      this.idle(() => this.earlier().catch(() => {}));
      await this.follow();
    } catch (err) {
      this.refuse(err);
    }
  }

  close() {
    this.closed.abort();
    this.connection?.abort();
    clearTimeout(this.asking);
    clearTimeout(this.sleeping);
  }

  get done() { return this.closed.signal.aborted; }

  refuse(err) {
    if (this.done || err.name === 'AbortError') return;
    this.problem = err;
    this.set('refused');
  }

  set(link) {
    if (this.link === link) return;
    this.link = link;
    this.tell('link');
  }

  // ask reads what the server says of the conversation.
  async ask() {
    clearTimeout(this.asking);
    this.asking = 0;
    const read = await this.api.get(of(this.id), { fields: this.view.join(',') }, this.closed.signal);
    if (read === this.read) return;
    this.read = read;
    this.tell('read');
  }

  // details reads what changes by amendments alone: the config and the settings.
  async details() {
    const { record } = await this.api.get(of(this.id), { fields: 'config,settings' }, this.closed.signal);
    this.config = record.config ?? {};
    this.settings = record.settings ?? {};
    this.seats = new Map();
    const known = this.read.record.participants ?? [], names = known.map((p) => p.name);
    const seats = this.config.participants ?? this.config.agents ?? known, sides = new Set(seats.map((s) => s.side));
    [...new Set([...seats.map((s) => s.id ?? s.name), ...names])].forEach((name, i) => {
      const seat = seats.find((s) => (s.id ?? s.name) === name), sided = sides.has('for') && sides.has('against');
      this.seats.set(name, { ...seat, name, tone: sided && ['for', 'against', 'neutral'].includes(seat?.side) ? seat.side
        : `seat-${i % 8 + 1}` });
    });
    this.tell('read');
  }

  get names() { return [...this.seats.keys()]; }

  tone(name) { return this.seats.get(name)?.tone ?? ''; }

  side(name) { return this.seats.get(name)?.side ?? ''; }

  // askSoon asks after a while, for all facts of the while together, and not while nobody looks.
  askSoon(after = 500) {
    if (this.asking || this.done) return;
    this.asking = setTimeout(() => {
      this.asking = 0;
      if (!this.hidden()) this.ask().catch((err) => err.status === 404 && this.refuse(err));
    }, after);
  }

  async events(after) {
    const found = await this.api.response('GET', this.api.url(of(this.id, 'events'), { after, limit: page }),
      { signal: this.closed.signal });
    return found.json();
  }

  // catchUp loads the last facts.
  async catchUp() {
    const seq = this.read?.record?.seq ?? 0;
    let after = this.last || Math.max(0, seq - first);
    if (!this.last) Object.assign(this, { whole: after === 0, begins: after + 1, course: new Course(after + 1) });
    while (after !== undefined) {
      const found = await this.events(after);
      found.events.forEach((fact) => this.add(fact));
      this.last = Math.max(this.last, found.next ?? found.last);
      after = found.next;
    }
    this.tell('facts');
  }

  // earlier loads what precedes the facts, one page after the other, the latest first.
  async earlier() {
    while (!this.whole && !this.done) {
      const before = this.begins, after = Math.max(0, before - 1 - page);
      const former = this.course, found = (await this.events(after)).events.filter((fact) => fact.seq < before);
      if (this.course !== former) return; // it was loaded anew meanwhile
      this.whole = after === 0;
      this.begins = after + 1;
      this.facts = [...found, ...this.facts];
      const course = new Course(this.begins);
      this.facts.forEach((fact) => course.add(fact));
      this.course = course;
      this.tell('facts');
      await new Promise((done) => { this.idle(done); });
    }
  }

  // add takes a fact, unless it is there.
  add(fact) {
    if (fact.seq <= this.last) return;
    this.last = fact.seq;
    this.facts.push(fact);
    this.course.add(fact);
    const call = fact.body?.call;
    if (call && fact.kind !== 'intent' && this.texts.delete(call)) this.tell(call);
  }

  // take handles an event of the stream. It returns true at the end of the conversation.
  take({ event, data }) {
    if (event === 'end') return true;
    const fact = JSON.parse(data);
    switch (fact.kind ?? event) {
      case 'chunk':
        this.texts.set(fact.body.call, spoken(this.texts.get(fact.body.call), fact.body));
        this.tell(fact.body.call);
        return false;
      case 'redacted': // what was said before is no longer as it was
        this.anew = true;
        break;
      default:
    }
    this.add(fact);
    if (fact.kind !== 'intent') this.askSoon();
    if (fact.kind === 'amended') this.details().catch(() => {});
    this.tell('facts');
    return false;
  }

  // follow reads the stream, and connects again until the conversation is over.
  async follow() {
    while (!this.done) {
      if (this.asleep || this.held) {
        this.set(this.held ? 'held' : 'asleep');
        await new Promise((wake) => { this.wake = wake; });
        continue;
      }
      try {
        if (await this.connect()) {
          await this.ask();
          this.set('over');
          return;
        }
        if (this.anew) {
          this.anew = false;
          this.reset();
          await this.catchUp();
          continue;
        }
      } catch (err) {
        const passing = !(err instanceof Problem) || err.status === 0 || err.status >= 500 || err.status === 429;
        if (this.done) return;
        if (!passing) throw err;
        this.problem = err;
        this.pause = err.after * 1000;
      }
      if (this.asleep || this.held) continue;
      const delay = Math.max(this.pause || 0, delays[Math.min(this.tries++, delays.length - 1)]);
      this.pause = 0;
      this.again = Date.now() + delay;
      this.link = '';
      this.set('waiting');
      await new Promise((go) => {
        this.retry = go;
        setTimeout(go, delay);
      });
    }
  }

  // connect reads the stream until it ends. It returns true if the conversation is over.
  async connect() {
    this.connection = new AbortController();
    const { signal } = this.connection;
    const full = setTimeout(() => this.last && this.set('full'), 3000);
    let dead = 0;
    const alive = () => {
      clearTimeout(dead);
      dead = setTimeout(() => this.connection.abort(), quiet);
    };
    try {
      const headers = { Accept: 'text/event-stream', ...this.last && { 'Last-Event-ID': String(this.last) } };
      const response = await this.api.response('GET', this.api.url(of(this.id, 'stream')), { signal, headers });
      clearTimeout(full);
      if (response.status === 204) return true;
      this.set('live');
      alive();
      let ended = false;
      const parser = new Parser((event) => { ended = this.take(event) || ended; });
      const reader = response.body.getReader(), decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return ended;
        this.tries = 0;
        alive();
        parser.feed(decoder.decode(value, { stream: true }));
        if (ended || this.anew) {
          this.connection.abort();
          return ended;
        }
      }
    } catch (err) {
      if (err.name === 'AbortError' && !this.done) return false;
      throw err;
    } finally {
      clearTimeout(full);
      clearTimeout(dead);
    }
  }

  // seen says whether somebody looks: after a minute without, the stream is closed, and goes on from its last fact later.
  seen(looks) {
    clearTimeout(this.sleeping);
    if (!looks) {
      this.sleeping = setTimeout(() => {
        this.asleep = true;
        this.connection?.abort();
      }, 60000);
      return;
    }
    this.asleep = false;
    this.wake?.();
    if (this.read && !over(this.read.record?.state)) this.askSoon(0);
  }

  // still holds what is shown as it is, and later goes on from there.
  still(on) {
    this.held = on;
    if (on) this.connection?.abort();
    else this.wake?.();
  }

  // hurry connects at once.
  hurry() {
    this.tries = 0;
    this.retry?.();
  }
}
