// What all views are made of. Texts of strangers are only ever children of elements, never markup.
import { of } from './api.js';
import { h, render, Component } from './lib/preact.mjs';
import { useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from './lib/hooks.mjs';
import htm from './lib/htm.mjs';
import { ago, clock, line, moment, shown, size, standing, told } from './words.js';

export { render, useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState };
export const html = htm.bind(h);

// memo renders a view anew only if same says that its properties differ.
export const memo = (view, same) => class extends Component {
  shouldComponentUpdate(next) { return !same(this.props, next); }

  render(props) { return h(view, props); }
};

// useChanges renders the view that calls it whenever the conversation tells of one of these.
export function useChanges(conv, ...whats) {
  const [, set] = useState(0);
  useEffect(() => {
    let due = false, gone = false;
    const draw = () => {
      due = false;
      if (!gone) set((n) => n + 1);
    };
    const soon = () => {
      if (due) return;
      due = true;
      if (document.hidden) setTimeout(draw, 100); // where nobody looks there are no frames, but there is a title
      else requestAnimationFrame(draw);
    };
    const offs = whats.map((what) => conv.on(what, soon));
    soon(); // what came between the first rendering and this
    return () => {
      gone = true;
      offs.forEach((off) => off());
    };
  }, [conv, ...whats]);
}

// useNow returns the time, anew every so many milliseconds.
export function useNow(every = 1000, on = true) {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    if (!on) return undefined;
    const timer = setInterval(() => document.hidden || set(Date.now()), every);
    return () => clearInterval(timer);
  }, [every, on]);
  return now;
}

const joined = (children) => [children].flat(9).filter((c) => c !== false && c !== null && c !== undefined).join('');

// Text is a text that a stranger wrote.
export const Text = ({ children, as = 'span', class: name = '' }) => html`<${as} class=${name} dir="auto" lang="">
  ${shown(joined(children))}<//>`;
export const Line = ({ children }) => html`<bdi lang="">${line(joined(children))}</bdi>`;

// At is a time, with how long ago it was.
export function At({ at, relative }) {
  const now = useNow(30000, Boolean(relative));
  if (!at) return null;
  return html`<time datetime=${at} title=${moment(at)}>${relative ? ago(at, now) : clock(at)}</time>`;
}

// State is the state of a conversation: a mark and a word, so that no colour carries the meaning alone.
export function State({ state }) {
  const [kind, words] = standing(state);
  return html`<span class="state is-${kind}"><span class="sign" aria-hidden="true">${signs[kind]}</span>${words}</span>`;
}
const signs = { work: '▶', wait: '○', ask: '?', pause: '‖', done: '✓', off: '×', fail: '!' };

// Face stands for a participant: a letter in the colour of the seat.
export const Face = ({ name, tone = '', speaking }) =>
  html`<span class="face ${tone} ${speaking ? 'speaking' : ''}" aria-hidden="true">${[...line(name)][0] ?? '·'}</span>`;

// Files are links to files of a conversation. A browser shows pictures, and saves what else there is.
export const Files = ({ api, id, files }) => html`<ul class="files">${files.filter((f) => f.hash).map((f) => html`<li>
  <a href=${api.url(of(id, 'files', f.hash))} target="_blank" rel="noopener"><${Line}>${f.name || f.type || f.hash.slice(0, 8)}<//></a>
  ${f.size > 0 && html` <small>${size(f.size)}</small>`}</li>`)}</ul>`;

// Trouble shows why a request was refused, and what helps.
export function Trouble({ problem, again }) {
  if (!problem) return null;
  const all = problem.all ?? [{ detail: problem.message }];
  return html`<div class="trouble" role="alert">
    ${all.slice(0, 20).map((p) => html`<p>${p.field && html`<code>${line(p.field)}</code> `}<${Line}>${told(p)}<//></p>`)}
    ${again && html`<button type="button" onClick=${again}>Try again</button>`}
  </div>`;
}

// Field is a label with its control, the words below it, and what is wrong with it.
export function Field({ label, hint, error, children, class: name = '' }) {
  const id = useId(), notes = [hint && `${id}h`, error && `${id}e`].filter(Boolean).join(' ') || undefined;
  return html`<div class="field ${error ? 'wrong' : ''} ${name}">
    <label for=${id}>${label}</label>
    ${children({ id, 'aria-describedby': notes, 'aria-invalid': error ? 'true' : undefined })}
    ${hint && html`<small id=${`${id}h`}>${hint}</small>`}
    ${error && html`<small class="error" id=${`${id}e`}><${Line}>${error}<//></small>`}
  </div>`;
}

// Input is a field for a text, for a number, or for one of several choices, which are pairs of a value and its words.
export function Input({ label, hint, error, class: name, put, choices, ...rest }) {
  const on = (e) => put(e.target.value), as = choices ? 'select' : rest.rows ? 'textarea' : 'input';
  return html`<${Field} label=${label} hint=${hint} error=${error} class=${name ?? (rest.type === 'number' ? 'short' : '')}>
    ${(a) => html`<${as} ...${a} ...${as === 'textarea' && { dir: 'auto' }} ...${rest.type === 'number' && { inputmode: 'decimal',
      step: 'any' }} ...${rest}
      ...${{ [choices ? 'onChange' : 'onInput']: on }}>${choices?.map(([value, words]) => html`<option value=${value}>${words}</option>`)}
        <//>`}<//>`;
}

// Form does something when it is sent. The policy of the page lets the browser send none.
export const Form = ({ act, children, ...rest }) => html`<form ...${rest} onSubmit=${(e) => {
  e.preventDefault();
  act();
}}>${children}</form>`;

// Dialog is open as long as it is rendered. What had the focus before gets it back from the browser: only by a dialog that is closed before
// it is removed, as a layout effect does it.
export function Dialog({ title, close, children }) {
  const ref = useRef(), id = useId();
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return html`<dialog ref=${ref} aria-labelledby=${id} onClose=${close} onClick=${(e) => e.target === ref.current && ref.current.close()}>
    <div class="inside"><header><h2 id=${id}>${title}</h2>
      <button type="button" class="plain" aria-label="Close" onClick=${() => ref.current.close()}>×</button></header>
    ${children}</div>
  </dialog>`;
}

// useAct returns what a button needs: whether it is being done, what went wrong, and the function that does it, once at a time. The button
// says aria-disabled meanwhile: one that is disabled would lose the focus.
export function useAct(act) {
  const [state, set] = useState({ busy: false, problem: null });
  const alive = useRef(true), busy = useRef(false);
  useEffect(() => () => { alive.current = false; }, []);
  const run = async (...given) => {
    if (busy.current) return undefined;
    busy.current = true;
    set({ busy: true, problem: null });
    try {
      const done = await act(...given);
      if (alive.current) set({ busy: false, problem: null });
      return done;
    } catch (problem) {
      if (alive.current) set({ busy: false, problem });
      return undefined;
    } finally {
      busy.current = false;
    }
  };
  return { ...state, run };
}

// announce has screen readers read a sentence, also one that they have just read: they read what changes.
export function announce(words) {
  const region = document.getElementById('announcer');
  if (!region) return;
  region.textContent = '';
  setTimeout(() => { region.textContent = words; }, 50);
}

// keep reads and writes what only this tab needs, where the browser allows it.
export const keep = {
  json(key) { try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; } },
  set(key, value) { try { sessionStorage.setItem(key, value); } catch { /* it is lost with the tab */ } },
  drop(key) { try { sessionStorage.removeItem(key); } catch { /* as above */ } },
};

// Later is a view of a module that is loaded when it is looked at.
export function Later({ load, ...rest }) {
  const [found, set] = useState({});
  const get = () => load().then((view) => set({ view }), () => set({ problem: new Error('A part of the page could not be loaded.') }));
  useEffect(() => { get(); }, []);
  if (found.view) return html`<${found.view} ...${rest} />`;
  return found.problem ? html`<${Trouble} problem=${found.problem} again=${get} />` : html`<p class="soft center">Loading …</p>`;
}
