// To go on elsewhere: from a point of the log, or after the conclusion.
import { of } from './api.js';
import { budgetOf } from './change.js';
import { Dialog, Form, Input, Trouble, html, useAct, useState } from './ui.js';
import { id as draw, line } from './words.js';

// useBeginning returns a function that begins a conversation by an operation of another one, and goes there. It keeps its id, so that
// what is sent again begins none twice, until the id is taken.
function useBeginning(conv, api, close) {
  const [id, renew] = useState(draw);
  return async (operation, body) => {
    try {
      const done = await api.post(of(conv.id, operation), { id, ...body });
      close();
      location.hash = `#/c/${encodeURIComponent(done.id)}`;
    } catch (problem) {
      if (problem.status === 409) renew(draw());
      throw problem;
    }
  };
}

// patchOf returns the merge patch (RFC 7396) that makes one value into another. undefined: they are equal.
export function patchOf(from, to) {
  if (JSON.stringify(from) === JSON.stringify(to)) return undefined;
  const object = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
  if (!object(from) || !object(to)) return to;
  const out = {};
  for (const key of Object.keys(from)) if (!(key in to)) out[key] = null;
  for (const [key, value] of Object.entries(to)) {
    const inner = patchOf(from[key], value);
    if (inner !== undefined) out[key] = inner;
  }
  return Object.keys(out).length ? out : undefined;
}

export function Fork({ conv, api, fact, close }) {
  const [text, set] = useState(JSON.stringify(conv.config, null, 2)), [wrong, say] = useState(''), begin = useBeginning(conv, api, close);
  const act = useAct(async () => {
    let config;
    try {
      config = JSON.parse(text);
      say('');
    } catch (err) {
      say(`This is not JSON: ${err.message}`);
      return;
    }
    const patch = patchOf(conv.config, config);
    await begin('fork', { seq: fact.seq, ...patch && { config: patch } });
  });
  return html`<${Dialog} title=${`Fork after fact ${fact.seq}`} close=${close}><${Form} act=${act.run}>
    <p>Everything up to this fact is copied into a new conversation. It goes on with the config below, which you may change.</p>
    <${Input} label="Config" error=${wrong} class="code" rows="14" spellcheck="false" value=${text} put=${set} />
    <div class="row end"><button class="main" aria-disabled=${act.busy}>Fork</button></div>
    <${Trouble} problem=${act.problem} />
  <//><//>`;
}

export function Reopen({ conv, api, close }) {
  const [form, set] = useState({ rounds: '1', ask: '', to: '', hard: '' }), { rounds, ask, to, hard } = form;
  const begin = useBeginning(conv, api, close);
  const put = (name) => (value) => set({ ...form, [name]: value }), debate = conv.read.record.flow === 'debate';
  const act = useAct(async () => {
    const budget = hard && { budget: budgetOf(conv.settings.budget, Number(hard)) };
    await begin('reopen', { ...to ? { to } : { rounds: Number(rounds) || 0 }, ...ask && { ask }, ...budget });
  });
  const whom = [['', 'nobody alone: there are further rounds'], ...conv.names.map((n) => [n, `${line(n)}, who answers it alone`])];
  return html`<${Dialog} title="Reopen" close=${close}><${Form} act=${act.run}>
    <p>The conclusion stands. A new conversation reads it and goes on.</p>
    ${debate && html`<${Input} label="For whom the question is" value=${to} put=${put('to')} choices=${whom} />`}
    ${!to && html`<${Input} label="Further rounds" type="number" min="1" step="1" required value=${rounds} put=${put('rounds')} />`}
    ${(to || !debate) && html`<${Input} label="What is asked" rows="3" required=${Boolean(to)} value=${ask} put=${put('ask')} />`}
    <${Input} label="USD at most" type="number" min="0" hint="Empty: as before." value=${hard} put=${put('hard')} />
    <div class="row end"><button class="main" aria-disabled=${act.busy}>Reopen</button></div>
    <${Trouble} problem=${act.problem} />
  <//><//>`;
}
