// What the page computes, without a browser: node --test web/testdata/
import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

import { answered, fieldsOf } from '../page/ask.js';
import { Api, Problem } from '../page/api.js';
import { Course, secret } from '../page/course.js';
import { budgetOf } from '../page/change.js';
import { patchOf } from '../page/fork.js';
import { listed } from '../page/list.js';
import { set } from '../page/start.js';
import { Conversation, Parser, spoken } from '../page/stream.js';
import { id, shown, size, told, usd } from '../page/words.js';

globalThis.crypto ??= webcrypto; // browsers have it

const logs = new URL('../../internal/enginetest/log/testdata/logs/', import.meta.url);
const recorded = readdirSync(logs).filter((name) => name.endsWith('.log.json')).map((name) => ({
  name, facts: JSON.parse(readFileSync(new URL(name, logs), 'utf8')).events,
}));

const courseOf = (facts, begins = 0) => facts.reduce((course, fact) => (course.add(fact), course), new Course(begins));
const cellsOf = (course) => course.rounds.flatMap((r) => r.entries.flatMap((e) => e.cells ?? []));

test('every turn of recorded logs stands in one place, and calls that ended are not open', () => {
  assert.ok(recorded.length > 10);
  for (const { name, facts } of recorded) {
    const course = courseOf(facts), turns = facts.filter((f) => f.kind === 'turn');
    assert.deepEqual(cellsOf(course).filter((c) => c.fact?.kind === 'turn').map((c) => c.fact.seq).sort((a, b) => a - b),
      turns.map((f) => f.seq), name);
    const ended = facts.findLast((f) => f.kind === 'transition')?.body.to;
    if (ended === 'completed' || ended === 'canceled') assert.deepEqual(course.open().map((c) => c.call), [], name);
    const left = facts.filter((f) => f.kind === 'withdrawn').map((f) => f.body.call);
    const waits = courseOf(facts.slice(0, -1)).open().map((c) => c.call);
    assert.deepEqual(left.filter((call) => waits.includes(call)), [], `${name}: a call that was withdrawn waits`);
    const begun = new Set(facts.filter((f) => f.kind === 'intent' && f.body.kind !== 'tool').map((f) => f.body.call));
    assert.equal(new Set(cellsOf(course).map((c) => c.call)).size, cellsOf(course).length, `${name}: a call has two places`);
    for (const call of begun) assert.ok(course.calls.has(call), `${name}: ${call}`);
  }
});

test('calls that are made at once stand side by side, others one below the other', () => {
  const at = (seq, kind, body) => ({ seq, kind, body, at: '2026-01-01T00:00:00Z' });
  const intent = (seq, by) => at(seq, 'intent', { call: by, by, attempt: 1, kind: 'opening' });
  const turn = (seq, by) => at(seq, 'turn', { call: by, speaker: by, attempt: 1, kind: 'opening', text: by });
  const groups = (...facts) => courseOf(facts).round.entries.map((e) => e.cells.map((c) => c.by).join(' '));
  assert.deepEqual(groups(intent(1, 'Ada'), turn(2, 'Ada'), intent(3, 'Ben'), turn(4, 'Ben')), ['Ada', 'Ben']);
  assert.deepEqual(groups(intent(1, 'Ada'), intent(2, 'Ben'), turn(3, 'Ben'), intent(4, 'Cleo'), turn(5, 'Ada'), turn(6, 'Cleo')),
    ['Ada Ben Cleo']);
});

test('what is said beside a person who is asked is hidden on the page, until they have answered', () => {
  const at = (seq, kind, body) => ({ seq, kind, body, at: '2026-01-01T00:00:00Z' });
  const intent = (seq, by) => at(seq, 'intent', { call: by, by, attempt: 1, kind: 'opening', hidden: true });
  const turn = (seq, by) => at(seq, 'turn', { call: by, speaker: by, attempt: 1, kind: 'opening', text: by, hidden: true });
  const secrets = (...facts) => cellsOf(courseOf(facts)).filter(secret).map((c) => c.by).join(' ');
  const begun = [intent(1, 'Ada'), intent(2, 'Ben'), intent(3, 'Pat')], asked = at(4, 'inquiry', { id: 'Pat', to: 'Pat' });
  assert.equal(secrets(...begun, turn(4, 'Ada')), '', 'nobody is asked');
  assert.equal(secrets(...begun, asked, turn(5, 'Ada')), 'Ada Ben');
  assert.equal(secrets(...begun, asked, turn(5, 'Ada'), turn(6, 'Pat')), '');
});

// served is a server that answers as the API does, from facts.
function served(facts, { over = true, stream = [] } = {}) {
  const asked = [];
  const ask = async (address, { headers = {}, signal } = {}) => {
    const url = new URL(address), after = Number(url.searchParams.get('after') ?? headers['Last-Event-ID'] ?? 0);
    asked.push([url.pathname.split('/').pop(), after]);
    if (url.pathname.endsWith('/events')) {
      const rest = facts.filter((f) => f.seq > after), events = rest.slice(0, Number(url.searchParams.get('limit'))),
        last = facts.at(-1).seq;
      return Response.json({ events, last, over, ...rest.length > events.length && { next: events.at(-1).seq } });
    }
    if (url.pathname.endsWith('/stream')) {
      const next = stream.shift();
      if (next === undefined) return new Response(null, { status: 204 });
      if (next instanceof Error) throw next;
      signal?.throwIfAborted();
      return new Response(next, { headers: { 'Content-Type': 'text/event-stream' } });
    }
    return Response.json({ record: { seq: facts.at(-1).seq, state: over ? 'completed' : 'awaitingResponses', participants: [] } });
  };
  return { api: new Api('http://here/', ask), asked };
}

const event = (fact) => `id: ${fact.seq}\nevent: ${fact.kind}\ndata: ${JSON.stringify(fact)}\n\n`;

test('a conversation is loaded from its end, and is the same when all of it is there', async () => {
  const facts = Array.from({ length: 3 }, (_, i) => recorded[i % recorded.length].facts).flat().flatMap((f) => Array(8).fill(f))
    .map((f, i) => ({ ...f, seq: i + 1 }));
  const many = [...facts, ...facts, ...facts, ...facts].map((f, i) => ({ ...f, seq: i + 1 }));
  const { api } = served(many), conv = new Conversation(api, 'one', { idle: (go) => setImmediate(go), hidden: () => false });
  await conv.open();
  while (!conv.whole) await new Promise((go) => { setImmediate(go); });
  assert.equal(conv.link, 'over');
  assert.deepEqual(conv.facts.map((f) => f.seq), many.map((f) => f.seq), 'each once, without gaps');
  const keys = (c) => c.rounds.map((r) => [r.key, r.version, r.entries.map((e) => e.key)]);
  assert.deepEqual(keys(conv.course), keys(courseOf(many, 1)));
  conv.close();
});

test('a stream that breaks goes on after its last fact, and facts that come again count once', async () => {
  const { facts } = recorded.find((r) => r.facts.length > 12), cut = facts.length - 6;
  const stream = [facts.slice(cut - 2, cut + 3).map(event).join(''), new TypeError('gone'),
    `${facts.slice(cut).map(event).join('')}event: end\ndata:\n\n`];
  const { api, asked } = served(facts.slice(0, cut), { over: false, stream });
  const conv = new Conversation(api, 'one', { idle: () => {}, hidden: () => false }), links = [];
  conv.on('link', () => links.push(conv.link));
  const opened = conv.open();
  while (conv.link !== 'over') {
    await new Promise((go) => { setImmediate(go); });
    conv.hurry();
  }
  await opened;
  assert.deepEqual(conv.facts.map((f) => f.seq), facts.map((f) => f.seq));
  assert.ok(links.includes('waiting'));
  assert.deepEqual(asked.filter(([what]) => what === 'stream').map(([, after]) => after), [cut, cut + 3, cut + 3].map((n) =>
    facts[n - 1].seq));
  conv.close();
});

test('a view that is held still asks for nothing until it goes on', async () => {
  const { facts } = recorded.find((r) => r.facts.length > 12), cut = facts.length - 6;
  const stream = [facts.slice(cut, cut + 2).map(event).join(''), `${facts.slice(cut + 2).map(event).join('')}event: end\ndata:\n\n`];
  const { api, asked } = served(facts.slice(0, cut), { over: false, stream });
  const conv = new Conversation(api, 'one', { idle: () => {}, hidden: () => false });
  const off = conv.on('link', () => {
    if (conv.link !== 'live') return;
    off();
    conv.still(true);
  });
  const opened = conv.open(), turn = () => new Promise((go) => { setImmediate(go); });
  while (conv.link !== 'held') await turn();
  const before = asked.length;
  for (let i = 0; i < 10; i++) await turn();
  assert.equal(asked.length, before);
  conv.still(false);
  while (conv.link !== 'over') await turn();
  await opened;
  assert.deepEqual(conv.facts.map((f) => f.seq), facts.map((f) => f.seq));
  conv.close();
});

test('a list has each conversation once, whatever is begun while it is looked at', async () => {
  const all = Array.from({ length: 180 }, (_, i) => ({ id: `${1000 - i}` })), parts = new Map();
  const get = async ({ limit, after }) => { // as the server: an unchanged part is the same value
    const from = after ? all.findIndex((c) => c.id === after) + 1 : 0, conversations = all.slice(from, from + limit);
    const part = { conversations, ...all.length > from + limit && { next: conversations.at(-1).id } };
    const key = JSON.stringify([limit, after, part]);
    return parts.get(key) ?? parts.set(key, part).get(key);
  };
  const first = await listed(get, 150);
  assert.deepEqual(first.conversations, all.slice(0, 150));
  assert.equal(await listed(get, 150, first), first, 'nothing has changed');
  all.unshift({ id: '1001' });
  all[120] = { ...all[120], state: 'paused' };
  const second = await listed(get, 150, first);
  assert.deepEqual(second.conversations, all.slice(0, 150));
  assert.deepEqual((await listed(get, 300, second)).conversations, all);
});

test('a soft limit follows the hard one, so that there is a conclusion', () => {
  assert.deepEqual(budgetOf(undefined, 2), { soft: 2, hard: 2 });
  assert.deepEqual(budgetOf({ soft: 0.5, hard: 1, warn: 0.5 }, 3), { warn: 0.5, soft: 3, hard: 3 });
  assert.deepEqual(budgetOf({ hard: 5 }, 1.23456789), { soft: 1.23456789, hard: 1.23456789 });
  assert.deepEqual(budgetOf({ soft: 1, hard: 1, hardCalls: 9 }, 0), { hardCalls: 9 });
});

test('a stream that is refused says why', async () => {
  const problem = { status: 404, detail: 'there is no such conversation' };
  const api = new Api('http://here/', async () => Response.json(problem, { status: 404 }));
  const conv = new Conversation(api, 'none', { hidden: () => false });
  await conv.open();
  assert.equal(conv.link, 'refused');
  assert.ok(conv.problem instanceof Problem);
  assert.equal(conv.problem.message, problem.detail);
});

test('events arrive whole, however their bytes are cut', () => {
  const text = 'id: 4\nevent: turn\ndata: {"a":\ndata: 1}\n\n:\n\nevent: chunk\r\ndata:x\r\n\r\nevent: end\ndata:\n\n';
  const whole = [{ id: '4', event: 'turn', data: '{"a":\n1}' }, { event: 'chunk', data: 'x' }, { event: 'end', data: '' }];
  for (const size of [1, 2, 7, text.length]) {
    const found = [], parser = new Parser((e) => found.push(e));
    for (let i = 0; i < text.length; i += size) parser.feed(text.slice(i, i + size));
    assert.deepEqual(found, whole, `pieces of ${size}`);
  }
});

test('a chunk replaces what follows its place, and a new attempt what came before', () => {
  const chunks = [
    { attempt: 1, units: 0, text: 'Good 👍 mor' }, { attempt: 1, units: 11, text: 'ning' }, { attempt: 1, units: 8, text: 'evening' },
    { attempt: 1, units: 0, text: 'Hm.', reasoning: true },
  ];
  const after = chunks.reduce((text, chunk) => spoken(text, chunk), undefined);
  assert.equal(after.text, 'Good 👍 evening');
  assert.equal(after.thoughts, 'Hm.');
  assert.equal(spoken(after, { attempt: 2, units: 0, text: 'Anew' }).text, 'Anew');
  assert.equal(spoken(after, { attempt: 2, units: 8, text: 'night' }).text, 'Good 👍 night', 'a reply that is continued');
  assert.equal(spoken(undefined, { attempt: 1, units: 0, text: '{"a"', schema: 'verdict' }).text, '', 'JSON is not shown as words');
});

test('a form is made of a schema, and its values are an answer', () => {
  const schema = {
    type: 'object', required: ['reasoning', 'scores', 'who', 'end'],
    properties: {
      reasoning: { type: 'string' }, winner: { anyOf: [{ type: 'string', enum: ['Ada', 'Ben'] }, { type: 'null' }] },
        who: { $ref: '#/$defs/name' },
      scores: { type: 'object', required: ['Ada'], properties: { Ada: { type: 'number', minimum: 0, maximum: 10 } } },
        end: { type: 'boolean' },
      notes: { type: 'array', items: { type: 'string' } }, version: { type: 'string', enum: ['1'] },
    },
    $defs: { name: { enum: ['Ada', 'Ben'] } },
  };
  const fields = fieldsOf(schema), kinds = Object.fromEntries(fields.map((f) => [f.name, f.kind]));
  assert.deepEqual(kinds, { reasoning: 'text', winner: 'choice', who: 'choice', scores: 'group', end: 'choice', notes: 'list',
    version: 'choice' });
  const values = { reasoning: 'So.', winner: 'none', who: '1', 'scores.Ada': '7.5', end: '1', notes: 'a\n\n b ' };
  assert.deepEqual(answered(fields, values), { reasoning: 'So.', winner: null, who: 'Ben', scores: { Ada: 7.5 }, end: false,
    notes: ['a', 'b'] });
  for (const other of [{ type: 'string' }, { type: 'object', properties: { a: { type: 'array', items: { type: 'object' } } } },
    { $ref: '#/nowhere' }, null]) {
    assert.equal(fieldsOf(other), null, JSON.stringify(other));
  }
  const endless = { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { a: { $ref: '#/$defs/a' } } } } };
  assert.equal(fieldsOf(endless), null);
});

test('a merge patch makes one config of another', () => {
  const merged = (into, patch) => {
    if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
    const out = into !== null && typeof into === 'object' && !Array.isArray(into) ? { ...into } : {};
    for (const [key, value] of Object.entries(patch)) {
      if (value === null) delete out[key];
      else out[key] = merged(out[key], value);
    }
    return out;
  };
  const from = { rounds: 3, budget: { hard: 1, soft: 1 }, participants: [{ name: 'Ada' }], language: 'German' };
  for (const to of [from, { ...from, rounds: 4 }, { rounds: 3 }, { ...from, budget: { hard: 2 } }, { ...from, participants: [] },
    { ...from, floor: {} }]) {
    const patch = patchOf(from, to);
    assert.deepEqual(patch === undefined ? from : merged(from, patch), to);
  }
  assert.equal(patchOf(from, structuredClone(from)), undefined);
});

test('a config is changed at a path, and nothing else of it', () => {
  const config = { participants: [{ name: 'Ada' }, { name: 'Ben' }] }, changed = set(config, ['participants', 1, 'model'], 'a/b');
  assert.deepEqual(changed, { participants: [{ name: 'Ada' }, { name: 'Ben', model: 'a/b' }] });
  assert.deepEqual(set(changed, ['participants', 0], undefined), { participants: [{ name: 'Ben', model: 'a/b' }] });
  assert.deepEqual(set(config, ['judging', 'judges'], [{}]), { ...config, judging: { judges: [{}] } });
  assert.deepEqual(config, { participants: [{ name: 'Ada' }, { name: 'Ben' }] });
});

test('ids are UUIDs of version 7 that sort by time', () => {
  const [a, b] = [id(1_700_000_000_000), id(1_700_000_000_001)];
  for (const one of [a, b]) assert.match(one, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.ok(a < b);
  assert.notEqual(id(1), id(1));
});

test('texts are shown with all their characters visible', () => {
  assert.equal(shown('a\u202eb\u0007c\x1b[31md\r\ne\u200b\ufeff\ud800'), 'a�b␇c␛d\ne���');
  assert.equal(shown('Grüße, 你好 👍\tשלום'), 'Grüße, 你好 👍\tשלום');
  assert.equal(shown(undefined), '');
  assert.equal(told({ field: 'topic', detail: 'topic: is empty', hint: 'write one' }), 'Is empty. Write one.');
  assert.deepEqual([7, 1500, 2_340_000].map(size), ['7 bytes', '2 kB', '2.3 MB']);
  assert.deepEqual([0, 0.00001, 0.0123, 1.5, 1234.5].map(usd), ['$0', '< $0.0001', '$0.0123', '$1.50', '$1,234.50']);
});
