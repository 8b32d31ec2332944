// All conversations, the newest first.
import { At, Line, State, Text, Trouble, html, useCallback, useEffect, useNow, useRef, useState } from './ui.js';
import { count, flowName, line, span, spaced, usd } from './words.js';

const every = 2000; // milliseconds between two looks

// usePoll asks again and again while somebody looks. An answer that is unchanged renders nothing.
export function usePoll(ask, ms = every) {
  const [state, set] = useState({});
  const again = useCallback(async (signal) => {
    try {
      const value = await ask(signal);
      set((former) => (former.value === value && !former.problem ? former : { value }));
    } catch (problem) {
      if (problem.name !== 'AbortError') set((former) => ({ ...former, problem }));
    }
  }, [ask]);
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    const round = async () => {
      if (!document.hidden) await again(stop.signal);
      if (!stop.signal.aborted) timer = setTimeout(round, ms);
    };
    const seen = () => {
      if (document.hidden) return;
      clearTimeout(timer);
      round();
    };
    round();
    document.addEventListener('visibilitychange', seen);
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }, [again, ms]);
  return [state, again];
}

const most = 100; // conversations a request

// listed returns the first conversations, as many as are shown, by get, which asks for some of them. They are the former value if all its
// parts are: what the server says is unchanged.
export async function listed(get, shown, former) {
  const parts = [];
  let last, count = 0;
  do {
    last = await get({ limit: Math.min(most, shown - count), after: last?.next });
    parts.push(last);
    count += last.conversations.length;
  } while (last.next && count < shown);
  if (former?.parts.length === parts.length && parts.every((part, i) => part === former.parts[i])) return former;
  return { parts, conversations: parts.flatMap((part) => part.conversations), next: last.next };
}

const filters = [['', 'All'], ['unfinished', 'Running'], ['asking', 'Asking'], ['completed', 'Finished'], ['error', 'Failed']];
const queryOf = (show) => ({
  '': {}, unfinished: { unfinished: 'true' }, asking: { asking: 'true' }, completed: { state: 'completed' }, error: { state: 'error' },
})[show] ?? {};

export function List({ api, query }) {
  const show = query.get('show') ?? '', q = query.get('q') ?? '', label = query.get('label') ?? '';
  const [key, value] = label.split(/=(.*)/s), [shown, extend] = useState(50), [words, type] = useState(q), former = useRef();
  const wanted = { ...queryOf(show), q, ...key && value !== undefined && { [`label.${key}`]: value } };
  const ask = useCallback(async (signal) => {
    former.current = await listed((part) => api.get('conversations', { ...wanted, ...part }, signal), shown, former.current);
    return former.current;
  }, [api, show, q, label, shown]);
  const [{ value: found, problem }, again] = usePoll(ask, q ? 30000 : every * Math.ceil(shown / most));
  useEffect(() => extend(50), [api, show, q, label]);
  const all = found?.conversations ?? [];
  const go = (change) => {
    const to = new URLSearchParams(Object.entries({ show, q, label, ...change }).filter(([, v]) => v));
    location.hash = `#/${to.size ? `?${to}` : ''}`;
  };
  return html`<div class="list">
    <header class="title"><h1 tabindex="-1">Conversations</h1><a class="button main" href="#/new">New</a></header>
    <${Sum} api=${api} />
    <div class="row filters">
      <div class="tabs" role="group" aria-label="Which">${filters.map(([name, words]) =>
        html`<button type="button" aria-pressed=${String(show === name)}
        onClick=${() => go({ show: name })}>${words}</button>`)}</div>
      <form class="search" role="search" onSubmit=${(e) => {
        e.preventDefault();
        go({ q: words.trim() });
      }}><input id="search" type="search" aria-label="Words in topics and turns" placeholder="Search" value=${words}
        onInput=${(e) => type(e.target.value)} /></form>
      ${label && html`<button type="button" class="chip" onClick=${() => go({ label: '' })}><${Line}>${label}<//>
        <span aria-hidden="true">×</span><span class="hidden">: remove</span></button>`}
    </div>
    <${Trouble} problem=${problem} again=${() => again()} />
    ${!found && !problem && html`<p class="soft center">Loading …</p>`}
    ${found && !all.length && (show || q || label ? html`<p class="soft center empty">None of them is like that.</p>`
      : html`<div class="empty center">
      <h2>Nothing has been debated yet</h2><p class="soft">Let models argue, work out a solution, or share a task.</p>
        <p><a class="button main" href="#/new">Start the first one</a></p></div>`)}
    <ul class="rows">${all.map((c) => html`<${Row} key=${c.id} one=${c} pick=${(l) => go({ label: l })} />`)}</ul>
    ${found?.next && html`<p class="center"><button type="button" onClick=${() => extend(shown + 50)}>Show more</button></p>`}
  </div>`;
}

function Row({ one, pick }) {
  const now = useNow(10000), left = one.askedAt ? now - new Date(one.askedAt) : 0;
  return html`<li class="row-of">
    <h2><a href=${`#/c/${encodeURIComponent(one.id)}`}><${Text}>${line(one.topic) || one.id}<//></a></h2>
    <p class="facts-of"><${State} state=${one.state} />
      ${one.asks > 0 && html`<span class="asks">${count(one.asks, 'question')}${left > 60000 ? ` for ${span(left)}` : ''}</span>`}
      <span>${flowName(one.flow)}${one.format ? ` · ${spaced(one.format)}` : ''}</span>
      ${one.round > 0 && html`<span>round ${one.round}</span>`}
      ${one.result && html`<span class="result"><${Line}>${one.result}<//></span>`}
      ${one.error && html`<span class="grave"><${Line}>${one.error}<//></span>`}
      ${Object.entries(one.labels ?? {}).slice(0, 4).map(([k, v]) => html`<button type="button" class="chip"
        onClick=${() => pick(`${k}=${v}`)}
        ><span class="hidden">Only </span><${Line}>${k}: ${v}<//></button>`)}</p>
    <p class="cost">${one.spent !== undefined && html`<b>${usd(one.spent)}</b>${one.limit ? html` <small>of ${usd(one.limit)}</small>` : ''}
      ${one.atMost ? html`<small>${usd(one.atMost)} more at most</small>` : ''}`}<small><${At} at=${one.lastAt ?? one.startedAt}
        relative /></small></p>
  </li>`;
}

// Sum is what all conversations of the caller have cost. Who may not see money sees nothing here.
function Sum({ api }) {
  const ask = useCallback((signal) => api.get('sum', {}, signal).catch((err) => {
    if (err.status === 403 || err.status === 404) return { sum: null };
    throw err;
  }), [api]);
  const [{ value }] = usePoll(ask, 5000), sum = value?.sum;
  if (!sum?.count) return null;
  const parts = [[usd(sum.spent), 'spent'], sum.atMost && [usd(sum.atMost), 'more at most'], 
    sum.left && [usd(sum.left), 'may still be spent'], value.quota && [usd(value.remains), `left of ${usd(value.quota)}`],
    sum.unlimited && [count(sum.unlimited, 'conversation'), 'without a limit']].filter(Boolean);
  return html`<dl class="sums" aria-label="What it costs">${parts.map(([n, words]) => html`<div><dt>${words}</dt><dd>${n}</dd></div>`)}
    </dl>`;
}
