// What is said, as it is said.
import { Ask, useHeld } from './ask.js';
import { secret } from './course.js';
import { Say } from './say.js';
import { At, Face, Files, Line, Text, announce, html, memo, useChanges, useEffect, useLayoutEffect, useNow, useRef,
  useState } from './ui.js';
import { count, cut, line, over, span, spaced, usd } from './words.js';

const near = 160; // pixels from the end within which a reader follows what is new
const dock = 72; // pixels that may be covered below

// Talk shows the rounds, then what is asked. A reader at the end stays there; one who reads above is told how much is new.
export function Talk({ conv, api }) {
  useChanges(conv, 'facts', 'read');
  const { course } = conv, following = useRef(null), seen = useRef(0), bottom = useRef();
  const [, set] = useState(0);
  const ended = over(conv.read?.record?.state);
  const below = () => (bottom.current ? bottom.current.getBoundingClientRect().bottom - innerHeight + dock : 0);
  const grown = () => following.current && below() > 0 && scrollBy({ top: below(), behavior: 'instant' });
  useEffect(() => {
    const look = () => {
      const end = below() <= near;
      if (following.current !== null) following.current = end && below() > -innerHeight;
      if (end && seen.current !== course.turns) {
        seen.current = conv.course.turns;
        set((n) => n + 1);
      }
    };
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, [conv]);
  useLayoutEffect(() => {
    if (following.current === null && conv.last) {
      const asked = document.getElementById('questions');
      following.current = !ended && !asked;
      seen.current = course.turns;
      asked?.scrollIntoView({ behavior: 'instant' });
    }
    grown();
    if (following.current) seen.current = course.turns;
  });
  useEffect(() => tellOf(conv), [conv]);
  const fresh = Math.max(0, course.turns - seen.current), held = useHeld((conv.read?.questions ?? []).map((q) => ({ id: conv.id, q })));
  return html`<div class="talk">
    ${!conv.whole && conv.last > 0 && html`<p class="soft center">Earlier rounds are being loaded …</p>`}
    ${course.rounds.map((r) => html`<${Round} key=${r.key} of=${r} version=${r.version} conv=${conv} seats=${conv.seats}
      grown=${grown} />`)}
    ${!course.turns && !course.open().length && html`<p class="soft center empty">Nothing has been said yet.</p>`}
    ${held.length > 0 && html`<section class="asked" id="questions" aria-labelledby="asked-title" tabindex="-1">
      <h2 id="asked-title">${held.length === 1 ? 'A question' : count(held.length, 'question')}</h2>
      ${held.map(({ key, q, open }) => html`<${Ask} key=${key} api=${api} id=${conv.id} question=${q} open=${open}
        by=${open ? null : answerTo(conv, q)} after=${(away) => (away ? set((n) => n + 1) : conv.askSoon(0))} />`)}
    </section>`}
    ${conv.read?.legal?.includes('say') && html`<${Word} conv=${conv} api=${api} seats=${conv.seats} />`}
    <div ref=${bottom}></div>
    ${fresh > 0 && html`<button type="button" class="fresh" onClick=${() => {
      following.current = true;
      grown();
    }}>↓ ${fresh} new</button>`}
  </div>`;
}

// answerTo returns who has answered a question, and when.
function answerTo(conv, q) {
  const fact = conv.facts.findLast((f) => f.kind === 'answer' && f.body.inquiry === q.id);
  return fact && { ...fact.body, at: fact.at };
}

const Word = memo((props) => html`<${Say} ...${props} />`, (a, b) => a.seats === b.seats);

// heard returns what screen readers read of a fact.
const heard = ({ kind, body }, conv) => (kind === 'turn'
  ? secret(conv.course.calls.get(body.call)) ? `${line(body.speaker)} has spoken.` : `${line(body.speaker)}: ${cut(body.text, 300)}`
  : `${line(body.judge)}: ${winnerOf(body) ? `${line(winnerOf(body))} has won` : 'A verdict without a winner'}. ${cut(body.summary, 300)}`);

// winnerOf returns who has won by a verdict. "": it names nobody.
const winnerOf = ({ winner: won }) => (won === null ? 'Nobody' : won?.participant ?? won?.side ?? (typeof won === 'string' ? won : ''));

// tellOf has screen readers read what was said, as it is recorded, and not while it is written.
function tellOf(conv) {
  let last = conv.last;
  return conv.on('facts', () => {
    const fresh = conv.facts.filter((f) => f.seq > last && (f.kind === 'turn' || f.kind === 'verdict'));
    if (last && fresh.length && fresh.length < 4) announce(fresh.map((f) => heard(f, conv)).join(' '));
    last = conv.last;
  });
}

// same compares rounds, and calls that were made at once: facts that were loaded before them change neither their key nor their version.
const same = (a, b) => a.version === b.version && a.of.key === b.of.key && a.seats === b.seats;

const Round = memo(({ of: round, conv, grown }) => html`<section class="round" aria-label=${round.n ? `Round ${round.n}`
  : 'Before the first round'}>
  ${round.n === 0 ? round.entries.length > 0 && html`<h2 class="hidden">Before the first round</h2>`
    : html`<h2 class="rounded"><span>Round ${round.n}${round.of > 0 && round.of < 50 && html` <small>of ${round.of}</small>`}</span>
    ${round.phase && round.phase !== 'round' && round.phase !== 'executing' && html`<small>${spaced(round.phase)}</small>`}</h2>`}
  ${round.entries.map((e) => e.cells
    ? html`<${Group} key=${e.key} of=${e} version=${e.version} conv=${conv} seats=${conv.seats} grown=${grown} />`
    : html`<${Event} key=${e.key} fact=${e.fact} conv=${conv} />`)}
</section>`, same);

// Group shows the calls that are made at once side by side.
const Group = memo(({ of: group, conv, grown }) => {
  const open = group.cells.some((c) => c.state === 'open' || c.state === 'waits'), cells = group.cells.filter(visible);
  if (!cells.length) return null;
  return html`<div class=${cells.length > 1 ? 'beside' : 'alone'}>
    ${cells.map((c) => html`<${Cell} key=${c.key} cell=${c} version=${c.version} conv=${conv} open=${open} grown=${grown} />`)}
  </div>`;
}, same);

const visible = (cell) => cell.kind !== 'summary' && cell.state !== 'left';

function Cell({ cell, conv, open, grown }) {
  const { fact } = cell, body = fact?.body, tone = conv.tone(cell.by), side = conv.side(cell.by);
  const speaking = cell.state === 'open' && !cell.asked;
  const said = body ? html`<${Said} fact=${fact} />` : html`<${Live} conv=${conv} cell=${cell} grown=${grown} />`;
  return html`<article class="turn tone ${tone} is-${cell.state}" id=${`call-${cell.call}`}>
    <header>
      <${Face} name=${cell.by} tone=${tone} speaking=${speaking} />
      <h3><${Line}>${cell.by}<//>${side && html` <span class="side">${line(side)}</span>`}</h3>
      <p class="what">${spaced(cell.kind)}${body?.swapped && ', in the other order'}
        ${cell.target && html` <span class="to">to <${Line}>${cell.target}<//></span>`}</p>
      ${fact && html`<${At} at=${fact.at} />`}
    </header>
    ${secret(cell) ? html`<details class="veil"><summary>For people who are asked too, this is hidden until they have answered</summary>
      ${said}</details>` : html`${cell.hidden && open && html`<p class="veil">The others read this when all have spoken.</p>`}${said}`}
    ${cell.uses.length > 0 && html`<${Uses} uses=${cell.uses} />`}
    ${body?.attachments?.length > 0 && html`<${Files} api=${conv.api} id=${conv.id} files=${body.attachments} />`}
    ${body && html`<${Foot} body=${body} cell=${cell} />`}
  </article>`;
}

function Said({ fact }) {
  const { kind, body } = fact;
  if (kind === 'turn') {
    return html`${body.text ? html`<${Text} as="div" class="words">${body.text}<//>` : html`<p class="soft">No words.</p>`}
      ${body.cut && html`<p class="soft">The reply ended at its limit.</p>`}
      ${body.reasoning && html`<details><summary>Thoughts</summary><${Text} as="div" class="words soft">${body.reasoning}<//></details>`}`;
  }
  const winner = winnerOf(body);
  const lead = ['summary', 'reason', 'reasoning', 'because', 'ending'].map((k) => body[k]).find((v) => typeof v === 'string' && v.trim());
  const marks = (body.assessments ?? []).filter((a) => typeof a?.score === 'number');
  return html`
    ${kind === 'verdict' && html`<p class="winner">${winner ? html`<${Line}>${winner}<//> has won` : 'A verdict without a winner'}</p>`}
    ${lead && html`<${Text} as="div" class="words">${lead}<//>`}
    ${marks.length > 0 && html`<ul class="marks">${marks.map((m) => html`<li><${Line}>${m.participant}<//> <b>${m.score}</b></li>`)}</ul>`}
    <details><summary>All of it</summary><${Value} value=${own(body)} /></details>`;
}

const shared = new Set(['call', 'attempt', 'model', 'usage', 'cost', 'atMost', 'brokenOff', 'unreported', 'cached', 'took', 'queued',
  'vendor', 'round',  'slot', 'kind', 'speaker', 'judge', 'voter', 'hidden', 'state']);
const own = (body) => Object.fromEntries(Object.entries(body).filter(([k]) => !shared.has(k)));

// Value shows JSON in words.
export function Value({ value, depth = 0 }) {
  if (value === null || value === '' || Array.isArray(value) && !value.length) return html`<span class="soft">none</span>`;
  if (typeof value !== 'object') return html`<${Text}>${typeof value === 'boolean' ? (value ? 'yes' : 'no') : value}<//>`;
  if (depth > 4) return html`<${Text} as="code">${JSON.stringify(value)}<//>`;
  if (Array.isArray(value)) return html`<ul>${value.map((v) => html`<li><${Value} value=${v} depth=${depth + 1} /></li>`)}</ul>`;
  return html`<dl class="value">${Object.entries(value).map(([k, v]) =>
    html`<div><dt><${Line}>${spaced(k)}<//></dt><dd><${Value} value=${v} depth=${depth + 1} /></dd></div>`)}</dl>`;
}

function Live({ conv, cell, grown }) {
  useChanges(conv, cell.call);
  useLayoutEffect(() => { grown(); });
  const text = conv.texts.get(cell.call);
  if (cell.state === 'failed') return html`<p class="soft">No answer. <${Why} trouble=${cell.trouble} /></p>`;
  if (cell.state === 'waits') return html`<${Wait} cell=${cell} />`;
  if (cell.asked) return html`<p class="soft">A person is asked${cell.asked.until && html` until <${At} at=${cell.asked.until} />`}.</p>`;
  if (text?.text) {
    return html`<${Text} as="div" class="words live">${text.text}<//>
      ${text.missing !== 0 && html`<p class="soft">Some words are missing here. They come when the turn is recorded.</p>`}`;
  }
  return html`<p class="soft dots">${text?.written ? html`Writing an answer: ${count(text.written, 'character')}`
    : text?.thoughts ? 'Thinking' : 'Waiting for the first word'}</p>`;
}

const Why = ({ trouble }) => trouble?.error && html`<${Line}>${trouble.error.message || spaced(trouble.error.kind)}<//>`;

function Wait({ cell }) {
  const now = useNow(1000), { trouble } = cell, left = trouble?.retryAt ? new Date(trouble.retryAt) - now : 0;
  return html`<p class="soft">${trouble ? html`<${Why} trouble=${trouble} />. ` : 'The answer was not accepted. '}
    ${left > 0 ? `Again in ${span(left)}` : 'Again at once'}${trouble?.next && html`, with <${Line}>${trouble.next}<//>`}.</p>`;
}

function Uses({ uses }) {
  return html`<details class="uses"><summary>${count(uses.length, 'tool use')}
    ${uses.some((u) => u.state === 'open') ? ', one is running' : ''}</summary>
    ${uses.map((u) => html`<div class="use"><p><code>${line(u.name)}</code> ${u.state === 'open' ? '…' : u.result?.failed ? 'has failed'
      : ''}</p>
      ${u.arguments !== undefined && html`<${Text} as="pre">${JSON.stringify(u.arguments, null, 1)}<//>`}
      ${u.result?.text && html`<${Text} as="pre">${u.result.text}<//>`}</div>`)}
  </details>`;
}

function Foot({ body, cell }) {
  const quotes = body.quotations ?? [], unproved = quotes.filter((q) => q.status === 'altered' || q.status === 'absent').length;
  const parts = [
    body.model && line(body.model), body.cost ? usd(body.cost) : '', body.usage?.output && count(body.usage.output, 'token'),
    cell.attempt > 1 && `attempt ${cell.attempt}`, 
    quotes.length > 0 && `${count(quotes.length, 'quotation')}${unproved ? `, ${unproved} not as in the document` : ''}`,
    body.citations?.length && count(body.citations.length, 'source'),
  ].filter(Boolean);
  return parts.length > 0 && html`<footer>${parts.join(' · ')}</footer>`;
}

// Event is what happened between the calls, in a line.
function Event({ fact, conv }) {
  const { kind, body, at } = fact, who = body.person && html` by <${Line}>${body.person}<//>`;
  if (kind === 'note') {
    return html`<aside class="note"><header><h3><${Line}>${body.as || 'A listener'}<//></h3>
      <p class="what">said in between${body.to?.length ? html` to ${body.to.map(line).join(', ')}` : ''}
        ${body.ask && html`, and asks <${Line}>${body.ask}<//>`}</p>
      <${At} at=${at} /></header><${Text} as="div" class="words">${body.text}<//></aside>`;
  }
  const words = () => {
    switch (kind) {
      case 'failed':
        return html`<${Line}>${body.by}<//>: <${Why} trouble=${body} />${body.next && html`. <${Line}>${body.next}<//> takes over`}
          ${body.waits ? '. It waits for the outage to pass' : ''}.`;
      case 'rejected':
        return html`An answer of <${Line}>${body.by}<//> was not accepted: <${Line}>${cut((body.problems ?? []).join('; '), 300)}<//>`;
      case 'skipped':
        return html`<${Line}>${body.by}<//> is skipped${body.reason && html`: <${Line}>${body.reason}<//>`}`;
      case 'dropped':
        return html`<${Line}>${body.participant}<//> takes no further part${body.reason && html`: <${Line}>${body.reason}<//>`}`;
      case 'warning':
        return html`<${Line}>${body.evidence || `Warning: ${spaced(body.kind)}`}<//>`;
      case 'answer':
        return html`${body.rule ? 'By rule' : html`Answered${who}`}: <${Line}>${body.option ? spaced(body.option) : cut(body.text, 120)}
          <//>`;
      case 'amended':
        return html`The settings were changed${who}: 
          ${Object.keys(body).filter((k) => !['person', 'reason', 'rows'].includes(k)).map(spaced).join(', ')}`;
      case 'retriedNow':
        return html`The waiting was cut short${who}`;
      case 'sent':
        return html`${spaced(body.trigger)}${who}${body.reason && html`: <${Line}>${body.reason}<//>`}`;
      default:
        return turning(body, who);
    }
  };
  const grave = kind === 'failed' || body.to === 'error';
  return html`<p class="event ${grave ? 'grave' : ''}" id=${`fact-${fact.seq}`}><span>${words()}</span> <${At} at=${at} /></p>`;
}

function turning(body, who) {
  const says = body.evidence && html`: <${Line}>${cut(body.evidence, 300)}<//>`;
  if (body.to === 'completed') return html`Finished${body.result && html`: <${Line}>${body.result}<//>`}`;
  if (body.to === 'canceled') return html`Canceled${who}${says}`;
  if (body.to === 'error') return html`Stopped by an error: <${Line}>${body.failure?.message || body.evidence || ''}<//>
    ${body.failure?.hint && html` <${Line}>${body.failure.hint}<//>`}`;
  const words = {
    pause: 'Paused', resume: 'Resumed', stop: 'The rounds were ended', limit: 'A limit was reached', retry: 'Tried again',
    warn: 'The cost warning was reached',
  };
  return html`${words[body.on] ?? spaced(body.on)}${who}${says}`;
}
