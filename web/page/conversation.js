// One conversation: its head, and below it the talk, the report or the facts.
import { Reopen } from './fork.js';
import { Bar, Rail } from './rail.js';
import { Report } from './report.js';
import { Conversation as Followed } from './stream.js';
import { Talk } from './talk.js';
import { At, Face, Later, Line, State, Text, Trouble, announce, html, useChanges, useEffect, useMemo, useNow, useRef,
  useState } from './ui.js';
import { count, cut, flowName, line, over, span, spaced, standing, told } from './words.js';

const view = ['id', 'flow', 'format', 'parent', 'state', 'topic', 'labels', 'round', 'startedAt', 'lastAt', 'duration', 'seq',
  'reason', 'evidence', 'cutShort', 'failure', 'participants', 'dropped', 'spent', 'reserved', 'spentByParticipant', 'schedule', 'outcome',
  'result', 'summary', 'solution', 'plan'];
const tabs = [['', 'Talk'], ['report', 'Report'], ['facts', 'Facts']];

export function Conversation({ api, id, tab, named }) {
  const conv = useMemo(() => new Followed(api, id, { view }), [api, id]);
  useEffect(() => {
    const seen = () => conv.seen(!document.hidden);
    conv.open();
    if (document.hidden) seen();
    const timer = setInterval(() => document.hidden || conv.link !== 'live' || conv.askSoon(0), 15000);
    document.addEventListener('visibilitychange', seen);
    return () => {
      document.removeEventListener('visibilitychange', seen);
      clearInterval(timer);
      conv.close();
    };
  }, [conv]);
  useChanges(conv, 'read', 'link');
  const { read, problem, link } = conv, state = read?.record?.state, last = useRef({});
  useEffect(() => {
    if (!read) return;
    named(`${read.questions?.length ? `(${read.questions.length}) ` : ''}${line(read.record.topic) || id}`);
    const asks = read.questions?.length ?? 0, former = last.current;
    if (former.state && former.state !== state) announce(`The conversation is ${standing(state)[1]}.`);
    else if (asks > former.asks) announce(`${count(asks, 'question')} to answer.`);
    last.current = { state, asks };
  });
  if (link === 'refused') {
    return html`<div class="empty center"><h1 tabindex="-1">${problem.status === 404 ? 'There is no such conversation'
      : 'It cannot be shown'}</h1>
      ${problem.status !== 404 && html`<${Trouble} problem=${problem} />`}<p><a class="button" href="#/">All conversations</a></p></div>`;
  }
  if (!read) return html`<h1 class="hidden" tabindex="-1">Conversation</h1><p class="soft center">Loading …</p>`;
  const path = `#/c/${encodeURIComponent(id)}`, can = read.legal?.includes('exportHTML');
  return html`<div class="conversation ${link === 'held' ? 'still' : ''}">
    <${Head} conv=${conv} api=${api} />
    <nav class="tabs" aria-label="Views">${tabs.filter(([name]) => name !== 'report' || can).map(([name, words]) =>
      html`<a href=${name ? `${path}/${name}` : path}
      aria-current=${tab === name ? 'page' : undefined}>${words}</a>`)}</nav>
    ${(link === 'live' || link === 'held') && html`<button type="button" class="plain" onClick=${() => conv.still(link === 'live')}>
      ${link === 'live' ? 'Hold still' : 'Go on'}</button>`}
    <${Link} conv=${conv} />
    <div class=${tab ? 'broad' : 'columns'}>
      <div class="main-column">${tab === 'facts' ? html`<${Later} key="facts" load=${() => import('./facts.js').then((m) => m.Facts)}
        conv=${conv} api=${api} />` : tab === 'report' && can ? html`<${Report} conv=${conv} api=${api} />`
        : html`<${Talk} conv=${conv} api=${api} />`}</div>
      ${!tab && html`<aside class="side-column" aria-label="Controls, money and people"><${Rail} conv=${conv} api=${api}>
        <${Now} conv=${conv} /><//></aside>`}
    </div>
    <${Bar} conv=${conv} api=${api} />
  </div>`;
}

function Head({ conv, api }) {
  useChanges(conv, 'facts', 'read');
  const [again, reopen] = useState(false);
  const { record } = conv.read, { outcome } = record, open = conv.course.open().filter((c) => c.kind !== 'summary');
  const result = record.result || outcome?.winner || outcome?.side, won = record.flow === 'debate' && result, ended = over(record.state);
  const made = record.flow !== 'debate' && cut(record.summary || record.solution?.solution || result || '', 400).replace(/[#*_`]+/g, '');
  return html`<header class="head">
    <p class="kicker"><a href="#/">Conversations</a> <span aria-hidden="true">/</span> ${flowName(record.flow)}
      ${record.format ? ` · ${spaced(record.format)}` : ''}</p>
    <h1 tabindex="-1"><${Text}>${line(record.topic) || record.id}<//></h1>
    <p class="standing"><${State} state=${record.state} /> <${Sentence} record=${record} open=${open} conv=${conv} /></p>
    ${ended && won && html`<p class="headline"><${Line}>${result}<//> 
      ${outcome?.decision === 'audience' ? ' has moved the audience' : ' has won'}
      ${outcome?.votes?.length > 1 && html` <small>${outcome.votes.map((v) => `${line(v.name)} ${v.votes}`).join(' · ')}</small>`}
      ${outcome?.dissent?.length > 0 && html` <small>Dissent: ${outcome.dissent.map((d) => line(d.judge)).join(', ')}</small>`}</p>`}
    ${ended && made && html`<div class="headline made"><${Text} as="p">${made}<//>
      ${conv.read.legal?.includes('exportHTML') && html`<a href=${`#/c/${encodeURIComponent(record.id)}/report`}>Read all of it in the
        report</a>`}</div>`}
    ${ended && !won && !made && record.cutShort && html`<p class="soft"><${Line}>${record.cutShort}<//></p>`}
    ${record.state === 'error' && record.failure && html`<div class="trouble">
      <p><${Line}>${told({ detail: record.failure.message || spaced(record.failure.kind), hint: record.failure.hint })}<//></p></div>`}
    ${conv.read.legal?.includes('reopen') && html`<button type="button" onClick=${() => reopen(true)}>Reopen …</button>`}
    ${again && html`<${Reopen} conv=${conv} api=${api} close=${() => reopen(false)} />`}
    ${!over(record.state) && html`<${Order} record=${record} conv=${conv} open=${open} />`}
  </header>`;
}

// Now is what goes on, beside a talk whose head is out of sight.
function Now({ conv }) {
  const [away, set] = useState(false);
  useEffect(() => {
    const head = new IntersectionObserver(([seen]) => set(!seen.isIntersecting));
    head.observe(document.querySelector('.head .standing'));
    return () => head.disconnect();
  }, []);
  useChanges(conv, 'facts', 'read');
  if (!away) return null;
  const { record } = conv.read, open = conv.course.open().filter((c) => c.kind !== 'summary');
  return html`<p class="now"><${State} state=${record.state} /> <${Sentence} record=${record} open=${open} conv=${conv} /></p>`;
}

function Sentence({ record, open, conv }) {
  const since = open.reduce((a, c) => Math.min(a, new Date(c.since)), Infinity);
  const now = useNow(1000, Number.isFinite(since) && conv.link !== 'held');
  if (over(record.state)) {
    return html`${record.duration ? `after ${span(record.duration / 1e6)}, ` : ''}<${At} at=${record.lastAt} relative />`;
  }
  const busy = open.filter((c) => c.state === 'open' && !c.asked), people = !busy.length && open.some((c) => c.asked);
  const names = [...new Set((busy.length ? busy : people ? open.filter((c) => c.asked) : open).map((c) => line(c.by)))];
  if (!names.length) return record.round > 0 ? `in round ${record.round}` : '';
  const who = names.length > 3 ? `${names.slice(0, 2).join(', ')} and ${names.length - 2} others`
    : names.join(names.length === 2 ? ' and ' : ', ');
  const does = people ? (names.length === 1 ? 'is asked' : 'are asked')
    : busy.length ? doing(busy, names.length > 1) : names.length === 1 ? 'waits to try again' : 'wait to try again';
  return html`<span><bdi>${who}</bdi> ${does}${since < now ? `, for ${span(now - since)}` : ''}${next(record, conv, open)}</span>`;
}

const verbs = {
  assessment: ['assesses the round', 'assess the round'], verdict: ['gives the verdict', 'give their verdicts'],
  ballot: ['votes', 'vote'], vote: ['votes', 'vote'],
  proposal: ['proposes', 'propose'], critique: ['critiques', 'critique'], refinement: ['refines the proposal', 'refine their proposals'],
  decision: ['decides who acts next', 'decide who acts next'], execution: ['works', 'work'],
  synthesis: ['makes the solution', 'make the solution'],
  confidence: ['judges how far they agree', 'judge how far they agree'], quality: ['judges the proposals', 'judge the proposals'],
  floor: ['gives the floor', 'give the floor'],
};
const doing = (open, many) => (new Set(open.map((c) => c.kind)).size === 1 && verbs[open[0].kind]?.[many ? 1 : 0])
  || (many ? 'are speaking' : 'is speaking');

// What follows a phase, where no schedule says who does.
const after = {
  proposing: 'then all critique', critiquing: 'then all refine', refining: 'then the judge', selecting: 'then the agent works',
  executing: 'then the arbiter evaluates',
};

function coming(record, conv, open) {
  const cells = [...conv.course.calls.values()].filter((c) => c.round === conv.course.round);
  return (record.schedule ?? []).map((s) => {
    const cell = cells.find((c) => c.by === s.speaker && c.kind === s.kind && (c.slot ?? 0) === (s.slot ?? 0));
    return { ...s, state: !cell ? 'next' : open.includes(cell) ? 'now' : 'past' };
  });
}

function next(record, conv, open) {
  const judged = record.state === 'awaitingResponses' && conv.config.judging?.when === 'every-round';
  const following = coming(record, conv, open).find((s) => s.state === 'next');
  if (following) return html`; next: <${Line}>${following.speaker}<//>`;
  return judged ? '; then the round is judged' : after[record.state] ? `; ${after[record.state]}` : '';
}

// Order is who speaks in this round, one after the other: who has, who does, who will.
function Order({ record, conv, open }) {
  const all = coming(record, conv, open), words = { past: 'has spoken', now: 'is speaking', next: 'comes later' };
  if (all.length < 2 || all.length > 24) return null;
  return html`<ol class="order" aria-label="This round">${all.map((s) => html`<li class=${`is-${s.state}`}>
    <${Face} name=${s.speaker} tone=${conv.tone(s.speaker)} speaking=${s.state === 'now'} /><span><${Line}>${s.speaker}<//> <small>
      ${spaced(s.kind)}</small></span>
    <span class="hidden">${words[s.state]}</span></li>`)}</ol>`;
}

// Link says what stands between the page and the conversation, if anything does.
function Link({ conv }) {
  const { link } = conv, now = useNow(1000, link === 'waiting');
  const words = {
    asleep: 'Nobody looked for a while: this view stands still.', held: 'This view is held still: what follows is not shown.',
    full: 'The browser has no free connection: other tabs of this page use them all.',
  }[link];
  if (link !== 'waiting' && !words) return null;
  const left = Math.max(0, Math.ceil((conv.again - now) / 1000));
  return html`<p class="link" role="status">${words ?? html`The connection is lost.
    Again ${left > 0 ? html`in <span class="figure">${left} s</span>` : 'now'}.
    <button type="button" class="plain" onClick=${() => conv.hurry()}>Now</button>`}</p>`;
}
