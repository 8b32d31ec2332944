// The page: which view the address names, the keys, and what stands above all views.
import { Api } from './api.js';
import { Conversation } from './conversation.js';
import { Inbox } from './inbox.js';
import { List, usePoll } from './list.js';
import { Dialog, Later, html, render, useCallback, useEffect, useState } from './ui.js';
import { meanings } from './words.js';

const api = new Api(document.baseURI);
const home = document.title;

// at reads the address: the parts of its path, and its query.
function at() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  let parts = [];
  try {
    parts = path.split('/').filter(Boolean).map(decodeURIComponent);
  } catch { /* no address of this page */ }
  return { parts, query: new URLSearchParams(query), key: location.hash };
}

const named = (words) => { document.title = words ? `${words} · ${home}` : home; };

function View({ place: { parts: [view, id, tab = ''], query } }) {
  switch (view) {
    case undefined:
      return html`<${List} api=${api} query=${query} />`;
    case 'inbox':
      return html`<${Inbox} api=${api} />`;
    case 'new':
      return html`<${Later} key="new" load=${() => import('./start.js').then((m) => m.Start)} api=${api} />`;
    case 'c':
      if (id) return html`<${Conversation} key=${id} api=${api} id=${id} tab=${tab} named=${named} />`;
    // fall through
    default:
      return html`<div class="empty center"><h1 tabindex="-1">There is nothing here</h1>
        <p><a class="button" href="#/">All conversations</a></p></div>`;
  }
}

const keys = [['/', 'search'], ['j', 'next conversation'], ['k', 'the one before'], ['Enter', 'open it'], ['n', 'new conversation'],
  ['?', 'these keys']];
const off = { get() { try { return localStorage.getItem('keys') === 'off'; } catch { return false; } },
  set(v) { try { localStorage.setItem('keys', v ? 'off' : 'on'); } catch { /* it is as before the next time */ } } };

function Page() {
  const [place, set] = useState(at), [help, show] = useState(false);
  useEffect(() => {
    const moved = () => {
      const next = at();
      set((former) => {
        const [a, b] = [former, next].map((p) => p.parts.slice(0, 2).join('/'));
        if (a !== b) {
          named({ inbox: 'Questions', new: 'New' }[next.parts[0]] ?? '');
          scrollTo(0, 0);
          requestAnimationFrame(() => document.querySelector('main h1')?.focus({ preventScroll: true }));
        }
        return next;
      });
    };
    const pressed = (e) => {
      if (off.get() || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
      if (e.target.closest('input, textarea, select, dialog, [contenteditable]')) return;
      if (press(e.key, show)) e.preventDefault();
    };
    addEventListener('hashchange', moved);
    addEventListener('keydown', pressed);
    return () => {
      removeEventListener('hashchange', moved);
      removeEventListener('keydown', pressed);
    };
  }, []);
  const [view] = place.parts;
  return html`
    <a class="skip" href="#main" onClick=${(e) => {
      e.preventDefault();
      document.getElementById('main').focus();
    }}>To the content</a>
    <header class="top"><div><a class="brand" href="#/"><img src="icon.svg" alt="" width="28" height="28" />debate</a>
      <nav aria-label="Page"><a href="#/" aria-current=${!view || view === 'c' ? 'true' : undefined}>Conversations</a>
        <${Questions} here=${view === 'inbox'} />
        <a href="#/new" aria-current=${view === 'new' ? 'page' : undefined}>New</a></nav>
      <button type="button" class="plain keys-help ${off.get() ? 'off' : ''}" aria-label="Keys"
        onClick=${() => show(true)}>?</button></div></header>
    <main id="main" tabindex="-1"><${View} place=${place} /></main>
    ${help && html`<${Keys} close=${() => show(false)} />`}`;
}

function press(key, show) {
  const rows = [...document.querySelectorAll('.rows h2 a')], here = rows.indexOf(document.activeElement);
  switch (key) {
    case '/':
      if (!document.getElementById('search')) return false;
      document.getElementById('search').focus();
      return true;
    case 'j':
    case 'k':
      rows[Math.min(rows.length - 1, Math.max(0, here + (key === 'j' ? 1 : -1)))]?.focus();
      return rows.length > 0;
    case 'n':
      location.hash = '#/new';
      return true;
    case '?':
      show(true);
      return true;
    default:
      return false;
  }
}

// Questions leads to the questions that the reader may answer, and says how many are open. Who may answer none has no such link.
function Questions({ here }) {
  const ask = useCallback((signal) => api.get('questions', {}, signal).catch((problem) => {
    if (problem.status !== 403) throw problem;
    return nobodys;
  }), []);
  const [{ value = {} }] = usePoll(ask, 5000), n = value.questions?.length ?? 0;
  return value !== nobodys && html`<a href="#/inbox" aria-current=${here ? 'page' : undefined}>Questions
    ${n > 0 && html` <span class="badge">${n}${value.next ? '+' : ''}<span class="hidden"> open</span></span>`}</a>`;
}
const nobodys = {};

function Keys({ close }) {
  const [none, set] = useState(off.get());
  return html`<${Dialog} title="Keys" close=${close}><dl class="keylist">
    ${keys.map(([key, words]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${words}</dd></div>`)}</dl>
    <label class="check"><input type="checkbox" checked=${none} onChange=${(e) => {
      off.set(e.target.checked);
      set(e.target.checked);
    }} /><span>Do nothing at these keys</span></label><//>`;
}

// Where what has the focus goes, as a question does that is answered, the heading gets it: the keys go on from there, not from the top.
let focused = null;
addEventListener('focusin', (e) => { focused = e.target; });
new MutationObserver(() => {
  if (!focused || focused.isConnected || document.activeElement !== document.body) return;
  document.querySelector('main h1')?.focus({ preventScroll: true });
}).observe(document.getElementById('page'), { childList: true, subtree: true });

api.get('flows').then((found) => Object.assign(meanings, found.options), () => {});
render(html`<${Page} />`, document.getElementById('page'));
