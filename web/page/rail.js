// Beside the talk: what can be done, what it costs, who takes part, the marks.
import { of } from './api.js';
import { Change, Inputs } from './change.js';
import { Dialog, Face, Files, Form, Input, Line, State, Trouble, announce, html, useAct, useChanges, useNow, useState } from './ui.js';
import { count, cut, line, over, span, spaced, usd } from './words.js';

const controls = {
  pause: ['Pause', 'No call starts until it is resumed.'], resume: ['Resume', 'It goes on where it was paused.'],
  retry: ['Try again', 'Calls that have failed or wait are made now.'],
  stop: ['End the rounds', 'It is concluded with what was said so far.'],
  cancel: ['Cancel', 'It ends at once, without a conclusion.'],
};
const immediate = new Set(['resume', 'retry']);

export function Rail({ conv, api, children }) {
  useChanges(conv, 'facts', 'read');
  const read = conv.read ?? {}, record = read.record ?? {}, open = conv.course.open().length;
  return html`<div class="rail" id="rail">
    ${children}
    <${Controls} conv=${conv} api=${api} legal=${read.legal ?? []} />
    ${read.inputs?.length > 0 && html`<${Inputs} conv=${conv} api=${api} inputs=${read.inputs} />`}
    ${record.state === 'paused' && open > 0 && html`<p class="soft">${count(open, 'call is', 'calls are')} finishing.</p>`}
    ${record.spent && html`<${Money} record=${record} limit=${read.limit} legal=${read.legal ?? []} conv=${conv} api=${api} />`}
    <${Cast} record=${record} conv=${conv} />
    <${Plan} plan=${record.plan} />
    <${Documents} conv=${conv} api=${api} />
    <${Marks} conv=${conv} />
    ${read.degraded?.length > 0 && html`<section class="panel"><h2>Less than configured</h2>
      <ul>${read.degraded.map((d) => html`<li><${Line}>${d}<//></li>`)}</ul></section>`}
    <${About} record=${record} read=${read} conv=${conv} api=${api} />
  </div>`;
}

// main returns the control that a small screen shows.
const main = (legal) => ['retry', 'resume', 'pause'].find((name) => legal.includes(name));

export function Controls({ conv, api, legal, only }) {
  const [asked, ask] = useState(''), [reason, say] = useState(''), [drain, set] = useState(true);
  const act = useAct(async (name) => {
    await api.post(of(conv.id, name), { ...reason && { reason }, ...name === 'pause' && { drain } });
    announce(`${controls[name][0]}: done.`);
    ask('');
    say('');
    await conv.ask();
    conv.hurry();
  });
  const names = only ? [main(legal)].filter(Boolean) : Object.keys(controls).filter((name) => legal.includes(name));
  if (!names.length) return null;
  return html`<${only ? 'div' : 'section'} class="controls" aria-label=${only ? undefined : 'Controls'}>
    ${names.map((name) => html`<button type="button" class=${name === main(legal) ? 'main' : name === 'cancel' ? 'plain' : ''}
      aria-disabled=${act.busy}
      onClick=${() => (immediate.has(name) ? act.run(name) : ask(name))}>${controls[name][0]}</button>`)}
    ${!asked && html`<${Trouble} problem=${act.problem} />`}
    ${asked && html`<${Dialog} title=${controls[asked][0]} close=${() => ask('')}><${Form} act=${() => act.run(asked)}>
      <p>${controls[asked][1]}</p>
      ${asked === 'pause' && html`<${Input} label="Calls that are being made" value=${drain ? 'yes' : ''} put=${(v) => set(Boolean(v))}
        choices=${[['yes', 'finish'], ['', 'are broken off, and made again later']]} />`}
      <${Input} label="Why" hint="The log keeps it. It may be empty." maxlength="200" value=${reason} put=${say} />
      <div class="row end"><button class="main" aria-disabled=${act.busy}>${controls[asked][0]}</button></div>
      <${Trouble} problem=${act.problem} />
    <//><//>`}
  <//>`;
}

// Money is a bar of what is spent, what may have been spent beyond it, what is reserved, and the limit.
function Money({ record, limit, legal, conv, api }) {
  const { cost = 0, atMost = 0 } = record.spent, reserved = record.reserved ?? 0, sum = cost + atMost + reserved;
  const [more, raise] = useState(false), all = Math.max(limit || 0, sum, 1e-9), x = (n) => (100 * n) / all;
  const accounts = (record.spentByParticipant ?? []).filter((a) => a.cost || a.atMost);
  return html`<section class="panel"><h2>Money</h2>
    <p class="sum"><b>${usd(cost)}</b> spent${limit ? html` of ${usd(limit)}` : ', no limit'}</p>
    ${(limit > 0 || sum > 0) && html`<svg class="money" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="8" /><rect class="reserved" width=${x(sum)} height="8" />
      <rect class="at-most" width=${x(cost + atMost)} height="8" /><rect class="spent" width=${x(cost)} height="8" /></svg>`}
    <ul class="keys">${atMost > 0 && html`<li class="k-at-most">${usd(atMost)} more at most: calls were broken off</li>`}
      ${reserved > 0 && html`<li class="k-reserved">${usd(reserved)} reserved for calls in flight</li>`}
      ${limit > 0 && html`<li class="k-left">${usd(Math.max(0, limit - sum))} left</li>`}</ul>
    ${accounts.length > 0 && html`<details><summary>By actor</summary><table><tbody>${accounts.map((a) => html`<tr>
      <th scope="row"><${Line}>${a.name || 'Others'}<//></th><td class="figure">${usd(a.cost)}</td></tr>`)}</tbody></table></details>`}
    ${legal.includes('amend') && html`<button type="button" class="plain" onClick=${() => raise(true)}>Change the settings</button>`}
    ${more && html`<${Change} conv=${conv} api=${api} limit=${limit} close=${() => raise(false)} />`}
  </section>`;
}

const statuses = {
  active: '', 'rate-limited': 'waits for the vendor', retrying: 'tries again', waiting: 'waits for an outage to pass',
  'context-exceeded': 'no longer fits its model',
};

function Cast({ record, conv }) {
  const all = record.participants ?? [], now = useNow(1000, all.some((p) => p.retryAt));
  if (!all.length) return null;
  return html`<section class="panel"><h2>Who takes part</h2><ul class="cast">${all.map((p) => {
    const status = statuses[p.status] ?? spaced(p.status), left = p.retryAt ? new Date(p.retryAt) - now : 0, seat = conv.seats.get(p.name);
    const model = p.model || seat?.model;
    return html`<li class=${p.status === 'dropped' ? 'gone' : ''}><${Face} name=${p.name} tone=${conv.tone(p.name)}
      speaking=${p.status === 'speaking' && !seat?.person} />
      <div><b><${Line}>${p.name}<//></b>${seat?.side && html` <span class="side">${line(seat.side)}</span>`}
      <small>${[seat?.person ? 'a person' : model && line(model), count(p.turns ?? 0, 'turn'),
        p.failures > 0 && count(p.failures, 'failure'),
        p.contextUsed > 50 && `window ${Math.round(p.contextUsed)} % full`].filter(Boolean).join(' · ')}</small>
      ${status && html`<small class="status">${status}${left > 0 ? `, again in ${span(left)}` : ''}</small>`}</div></li>`;
  })}</ul></section>`;
}

// Plan is how arbitrated work is to be done.
const Plan = ({ plan }) => plan?.steps?.length > 0 && html`<section class="panel"><h2>The plan</h2><ol>${plan.steps.map((s) => html`
  <li aria-current=${s.index === plan.currentStepIndex ? 'step' : undefined}><${Line}>${cut(s.description, 200)}<//>
    ${' '}<small>${spaced(s.status)}</small></li>`)}</ol></section>`;

// Documents are what those who take part were given to read.
function Documents({ conv, api }) {
  const { attachments = [], documents = [] } = conv.config, all = [{ files: attachments }, ...documents].filter((d) => d.files?.length);
  return all.length > 0 && html`<section class="panel"><h2>Documents</h2>${all.map((d) => html`
    ${d.name && html`<h3><${Line}>${d.name}<//></h3>`}
    <${Files} api=${api} id=${conv.id} files=${d.files} />`)}</section>`;
}

const mean = (all) => all.reduce((a, b) => a + b, 0) / all.length;

// Marks are those that the judges have given, by round, as means.
function Marks({ conv }) {
  const rounds = [...conv.course.marks.keys()].sort((a, b) => a - b), shown = rounds.slice(-8);
  if (!rounds.length) return null;
  const names = [...new Set(rounds.flatMap((r) => [...conv.course.marks.get(r).keys()]))];
  return html`<section class="panel"><h2>Marks by round</h2><div class="wide" tabindex="0" role="region" aria-label="Marks by round"><table>
    <thead><tr><td></td>${shown.map((r) => html`<th scope="col">${r}</th>`)}<th scope="col">Mean</th></tr></thead>
    <tbody>${names.map((name) => {
      const given = rounds.flatMap((r) => (conv.course.marks.get(r).has(name) ? [mean(conv.course.marks.get(r).get(name))] : []));
      return html`<tr class="tone ${conv.tone(name)}"><th scope="row"><${Line}>${name}<//></th>${shown.map((r) => {
        const marks = conv.course.marks.get(r).get(name);
        return html`<td class="figure">${marks ? mean(marks).toFixed(1) : '–'}</td>`;
      })}<td class="figure"><b>${mean(given).toFixed(1)}</b></td></tr>`;
    })}</tbody></table></div></section>`;
}

function About({ record, read, conv, api }) {
  const [sure, ask] = useState(false), labels = Object.entries(record.labels ?? {});
  const remove = useAct(async () => {
    await api.send('DELETE', of(conv.id));
    location.hash = '#/';
  });
  return html`<section class="panel about"><h2>About</h2><dl>
    ${record.parent && html`<div><dt>Forked from</dt><dd><a href=${`#/c/${encodeURIComponent(record.parent.id)}`}>
      <${Line}>${record.parent.id}<//></a> at ${record.parent.seq}</dd></div>`}
    ${labels.map(([k, v]) => html`<div><dt><${Line}>${k}<//></dt><dd><${Line}>${v}<//></dd></div>`)}
    <div><dt>Id</dt><dd><code><${Line}>${record.id}<//></code></dd></div>
    ${read.owner && html`<div><dt>Runs in</dt><dd><${Line}>${read.owner}<//></dd></div>`}
    ${!read.owner && record.spent && !over(record.state) && !['paused', 'awaitingInput', 'error'].includes(record.state)
      && html`<div><dt>Runs in</dt><dd>no process: a worker has to continue it</dd></div>`}</dl>
    ${read.legal?.includes('delete') && html`<button type="button" class="plain" onClick=${() => ask(true)}>Delete …</button>`}
    ${sure && html`<${Dialog} title="Delete this conversation?" close=${() => ask(false)}>
      <p>Its log and its files are removed for good.</p><div class="row end"><button type="button" class="main danger"
        aria-disabled=${remove.busy}
        onClick=${() => remove.run()}>Delete for good</button></div><${Trouble} problem=${remove.problem} /><//>`}
  </section>`;
}

// Bar is the rail of a small screen: the state, the money and one control, always in sight.
export function Bar({ conv, api }) {
  useChanges(conv, 'read');
  const read = conv.read ?? {}, record = read.record ?? {}, asks = read.questions?.length ?? 0;
  return html`<div class="dock" role="region" aria-label="State and main control">
    <a class="glance" href="#rail" onClick=${(e) => {
      e.preventDefault();
      document.getElementById('rail')?.scrollIntoView();
    }}><${State} state=${record.state} />
      ${record.spent && html`<small>${usd(record.spent.cost)}${read.limit ? ` of ${usd(read.limit)}` : ''}</small>`}</a>
    ${asks > 0 ? html`<button type="button" class="main" onClick=${() => {
      const at = document.getElementById('questions');
      at?.scrollIntoView();
      at?.focus({ preventScroll: true });
    }}>${count(asks, 'question')}</button>` : html`<${Controls} conv=${conv} api=${api} legal=${read.legal ?? []} only />`}
  </div>`;
}
