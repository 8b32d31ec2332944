// What people read: texts that strangers wrote, made harmless to look at, and the words and figures of the page.

const odd = /[^\n\t -~]/;
const sequences = /(?:\x1b\[|\x9b)[ -?]*[@-~]|(?:\x1b\]|\x9d)[^\n\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)/g;
const breaks = /\r\n|[\r\v\f\x85\u2028\u2029]/g;
const control = /[\0-\x08\x0e-\x1f]/g;
const invisible = new RegExp('[\\x80-\\x9f\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u2069\\ufdd0-\\ufdef' +
  '\\ufeff\\ufff9-\\ufffb\\ufffe\\uffff\\u{e0000}-\\u{e007f}\\p{Surrogate}]', 'gu');

// shown returns a text whose characters can all be seen, as reports show it.
export function shown(text) {
  text = String(text ?? '');
  if (!odd.test(text)) return text;
  return text.replace(sequences, '\x1b').replace(breaks, '\n')
    .replace(control, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))).replace(/\x7f/g, '␡').replace(invisible, '\ufffd');
}

// line returns a text on one line.
export const line = (text) => shown(text).replace(/\s+/g, ' ').trim();

// cut returns the beginning of a line.
export function cut(text, most = 120) {
  const all = [...line(text)];
  return all.length > most ? all.slice(0, most - 1).join('') + '…' : all.join('');
}

const digits = (most) => new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: most });
const cents = digits(2), parts = digits(4), whole = new Intl.NumberFormat('en');
const hours = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const days = new Intl.DateTimeFormat('en-GB', { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

// usd returns an amount of money.
export function usd(n) {
  if (!n) return '$0';
  return n < 0.0001 ? '< $0.0001' : `$${(n < 0.1 ? parts : cents).format(n)}`;
}

// size returns a number of bytes.
export const size = (n) => (n < 1000 ? count(n, 'byte') : n < 1e6 ? `${Math.round(n / 1000)} kB` : `${(n / 1e6).toFixed(1)} MB`);

export const count = (n, one, many = one + 's') => `${whole.format(n)} ${n === 1 ? one : many}`;

// span returns a length of time, from milliseconds.
export function span(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s < 600 && s % 60 ? `${s % 60} s` : ''}`.trim();
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60) || ''}${Math.floor(s % 3600 / 60) ? ' min' : ''}`.trim();
  return count(Math.floor(s / 86400), 'day');
}

// spaced returns a name of the program's own, such as awaitingInput or soft-limit, as words.
export const spaced = (name) => line(name).replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`).replace(/[-_]/g, ' ');

const states = {
  ready: ['wait', 'ready'], initializing: ['work', 'beginning'], paused: ['pause', 'paused'], awaitingInput: ['ask',
    'waiting for a person'],
  completing: ['work', 'concluding'], completed: ['done', 'finished'], canceled: ['off', 'canceled'],
    error: ['fail', 'stopped by an error'],
  awaitingResponses: ['work', 'speaking'], judging: ['work', 'being judged'], roundComplete: ['work', 'between rounds'],
  planningRound: ['work', 'planning the round'], selecting: ['work', 'choosing who acts'],
};

// standing returns what kind of state a state is (work, wait, ask, pause, done, off or fail), and its words.
export const standing = (state) => states[state] ?? ['work', state ? spaced(state) : 'beginning'];

export const over = (state) => state === 'completed' || state === 'canceled';

const flows = { debate: 'Debate', deliberation: 'Deliberation', arbiter: 'Arbitrated work', evaluation: 'Evaluation' };
export const flowName = (flow) => flows[flow] ?? spaced(flow);

// meanings holds what the options of questions do, as the server says it.
export const meanings = {};
export function meaning(option) {
  const words = line(meanings[option] ?? spaced(option));
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// told returns what is wrong and what helps, in sentences, without the field that a problem begins with.
export function told({ detail, title, field, hint }) {
  let words = line(detail || title || '');
  if (field && words.startsWith(`${line(field)}: `)) words = words.slice(line(field).length + 2);
  return [words, line(hint ?? '')].filter(Boolean).map((s) => s.charAt(0).toUpperCase() + s.slice(1) + (/[.!?:]$/.test(s) ? ''
    : '.')).join(' ');
}

// clock returns a time of day, with the date if that is not today's.
export function clock(at, now = new Date()) {
  const t = new Date(at);
  if (Number.isNaN(t.getTime())) return '';
  return (t.toDateString() === now.toDateString() ? hours : days).format(t);
}

// moment returns the whole of a time.
export function moment(at) {
  const t = new Date(at);
  return Number.isNaN(t.getTime()) ? '' : exact.format(t);
}

// ago returns how long ago a time was.
export function ago(at, now = Date.now()) {
  const ms = now - new Date(at).getTime();
  if (Number.isNaN(ms)) return '';
  return ms < 60000 ? 'just now' : `${span(ms < 3600000 ? ms - ms % 60000 : ms)} ago`;
}

const encoder = new TextEncoder();
export const bytes = (text) => encoder.encode(text).length;

// id returns a new UUIDv7: ids sort by the time at which they were drawn.
export function id(now = Date.now(), random = crypto.getRandomValues(new Uint8Array(10))) {
  const hex = (n, digits) => n.toString(16).padStart(digits, '0').slice(-digits);
  const r = [...random];
  r[0] = r[0] & 0x0f | 0x70;
  r[2] = r[2] & 0x3f | 0x80;
  const all = hex(now, 12) + r.map((b) => hex(b, 2)).join('');
  return [all.slice(0, 8), all.slice(8, 12), all.slice(12, 16), all.slice(16, 20), all.slice(20)].join('-');
}
