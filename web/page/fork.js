// To go on elsewhere: from a point of the log, or after the conclusion.
import { of } from './api.js';
import { Dialog, Field, Trouble, html, useAct, useState } from './ui.js';
import { id as draw, line, spaced } from './words.js';

const go = (id) => { location.hash = `#/c/${encodeURIComponent(id)}`; };

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
  const [text, set] = useState(JSON.stringify(conv.config, null, 2)), [wrong, say] = useState(''), [id] = useState(draw);
  const act = useAct(async () => {
    let config;
    try {
      config = JSON.parse(text);
    } catch (err) {
      say(`This is not JSON: ${err.message}`);
      return;
    }
    say('');
    const patch = patchOf(conv.config, config), done = await api.post(of(conv.id, 'fork'), { seq: fact.seq, id, ...patch && { config: patch } });
    close();
    go(done.id);
  });
  return html`<${Dialog} title=${`Fork after fact ${fact.seq}`} close=${close}><form onSubmit=${(e) => {
    e.preventDefault();
    act.run();
  }}>
    <p>What was said up to <b>${spaced(fact.kind)}</b> is copied into a new conversation. It goes on with the config below, which you may change.</p>
    <${Field} label="Config" error=${wrong}>${(a) => html`<textarea ...${a} class="code" rows="14" spellcheck="false" value=${text} onInput=${(e) => set(e.target.value)} />`}<//>
    <div class="row end"><button class="main" disabled=${act.busy}>Fork</button></div>
    <${Trouble} problem=${act.problem} />
  </form><//>`;
}

export function Reopen({ conv, api, close }) {
  const [rounds, set] = useState('1'), [ask, say] = useState(''), [to, whom] = useState(''), [hard, limit] = useState(''), [id] = useState(draw);
  const act = useAct(async () => {
    const done = await api.post(of(conv.id, 'reopen'), {
      id, ...!to && { rounds: Number(rounds) || 0 }, ...ask && { ask }, ...to && { to }, ...hard && { budget: { ...conv.settings.budget, hard: Number(hard) } },
    });
    close();
    go(done.id);
  });
  return html`<${Dialog} title="Reopen" close=${close}><form onSubmit=${(e) => {
    e.preventDefault();
    act.run();
  }}>
    <p>The conclusion stands. A new conversation reads it and goes on.</p>
    ${conv.read.record.flow === 'debate' && html`<${Field} label="For whom the question is">${(a) => html`<select ...${a} value=${to} onChange=${(e) => whom(e.target.value)}>
      <option value="">nobody alone: there are further rounds</option>${conv.names.map((n) => html`<option value=${n}>${line(n)}, who answers it alone</option>`)}</select>`}<//>`}
    ${!to && html`<${Field} label="Further rounds" class="short">${(a) => html`<input ...${a} type="number" min="1" step="1" required value=${rounds} onInput=${(e) => set(e.target.value)} />`}<//>`}
    ${(to || conv.read.record.flow !== 'debate') && html`<${Field} label="What is asked">${(a) => html`<textarea ...${a} rows="3" dir="auto" required=${Boolean(to)} value=${ask}
      onInput=${(e) => say(e.target.value)} />`}<//>`}
    <${Field} label="USD at most" class="short" hint="Empty: as before.">${(a) => html`<input ...${a} type="number" min="0" step="any" value=${hard} onInput=${(e) => limit(e.target.value)} />`}<//>
    <div class="row end"><button class="main" disabled=${act.busy}>Reopen</button></div>
    <${Trouble} problem=${act.problem} />
  </form><//>`;
}
