// The log: each fact with its JSON.
import { Fork } from './fork.js';
import { At, Line, Text, html, memo, useChanges, useState } from './ui.js';
import { count, cut, line, spaced, usd } from './words.js';

const most = 500; // rows at a time

export function Facts({ conv, api }) {
  useChanges(conv, 'facts', 'read');
  const [kind, only] = useState(''), [who, by] = useState(''), [shown, show] = useState(most), [at, fork] = useState(null);
  const kinds = [...new Set(conv.facts.map((f) => f.kind))].sort(), people = [...new Set(conv.facts.map(actor).filter(Boolean))].sort();
  const found = conv.facts.filter((f) => (!kind || f.kind === kind) && (!who || actor(f) === who)), legal = conv.read.legal ?? [];
  const rows = found.slice(-shown).reverse();
  return html`<div class="facts">
    <div class="row filters">
      <label>Kind <select value=${kind} onChange=${(e) => only(e.target.value)}><option value="">all</option>
        ${kinds.map((k) => html`<option value=${k}>${spaced(k)}</option>`)}</select></label>
      <label>Actor <select value=${who} onChange=${(e) => by(e.target.value)}><option value="">all</option>
        ${people.map((p) => html`<option value=${p}>${line(p)}</option>`)}</select></label>
      <span class="soft" role="status">${count(found.length, 'fact')}${conv.whole ? '' : ', more are being loaded'}</span>
    </div>
    <ol class="log" reversed start=${found.length}>${rows.map((f) => html`<${Fact} key=${f.seq} fact=${f} 
      fork=${legal.includes('fork') ? fork : null} />`)}</ol>
    ${found.length > shown && html`<button type="button" onClick=${() => show(shown + most)}>Show earlier ones</button>`}
    ${at && html`<${Fork} conv=${conv} api=${api} fact=${at} close=${() => fork(null)} />`}
  </div>`;
}

const actor = ({ body }) => body.speaker ?? body.judge ?? body.voter ?? body.by ?? body.participant ?? '';

const Fact = memo(({ fact, fork }) => {
  const [open, set] = useState(false);
  return html`<li class="fact"><details onToggle=${(e) => set(e.target.open)}><summary>
    <span class="seq">${fact.seq}</span> <b>${spaced(fact.kind)}</b> <span class="gist">${gist(fact)}</span> <${At} at=${fact.at} />
      </summary>
    ${open && html`<${Text} as="pre">${JSON.stringify(fact, null, 2)}<//>
      ${fork && html`<button type="button" onClick=${() => fork(fact)}>Fork from here …</button>`}`}
  </details></li>`;
}, (a, b) => a.fact === b.fact && Boolean(a.fork) === Boolean(b.fork));

// gist says in a few words what a fact is about.
function gist({ kind, body }) {
  const who = actor({ body }), cost = body.cost ? ` · ${usd(body.cost)}` : '';
  if (kind === 'transition') return html`${spaced(body.from)} → ${spaced(body.to)}
    ${body.evidence && html` · <${Line}>${cut(body.evidence, 80)}<//>`}`;
  if (kind === 'round') return `${body.n} of ${body.of}${body.phase ? ` · ${spaced(body.phase)}` : ''}`;
  if (kind === 'failed') return html`<${Line}>${who}<//> · <${Line}>${cut(body.error?.message ?? body.error?.kind, 80)}<//>`;
  const text = body.text ?? body.question ?? body.evidence ?? body.reason ?? body.reasoning ?? body.summary ?? '';
  return html`${who && html`<${Line}>${who}<//>`}${body.kind && ` · ${spaced(body.kind)}`}${typeof text === 'string' && text
    && html` · <${Line}>${cut(text, 80)}<//>`}${cost}`;
}
