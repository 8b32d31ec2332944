'use strict';
const root = new URL('.', document.currentScript.src);
const make = (name, text, values) => Object.assign(document.createElement(name), { textContent: text }, values);

// Colours: those of the system, until a reader chooses others.
const theme = document.getElementById('site-theme');
const system = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
const show = () => theme.setAttribute('aria-pressed', isDark());
theme.hidden = false;
theme.addEventListener('click', () => {
  const name = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem('theme', name); } catch { /* it holds for this page */ }
  show();
});
system.addEventListener('change', show);
show();

// Code can be copied, and what it prints need not be.
if (navigator.clipboard) {
  for (const figure of document.querySelectorAll('figure.code:not([data-language="text"])')) {
    const button = make('button', 'Copy', { className: 'copy' });
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('code').textContent);
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    figure.append(button);
  }
}

// The list of parts marks the part that is read, and the list of pages shows this page.
const parts = new Map([...document.querySelectorAll('aside a')].map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
const watch = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    for (const a of parts.values()) a.removeAttribute('aria-current');
    parts.get(target.id).setAttribute('aria-current', 'true');
  }
}, { rootMargin: '-60px 0px -75% 0px' });
for (const id of parts.keys()) watch.observe(document.getElementById(id));
const pages = document.getElementById('site-pages');
const here = pages.querySelector('[aria-current]');
if (here) pages.scrollTop = here.offsetTop - pages.clientHeight / 2;

// Search. The index is read when somebody searches for the first time.
const dialog = document.getElementById('site-search');
const input = dialog.querySelector('input');
const hits = document.getElementById('site-hits');
const count = document.getElementById('site-count');
const find = document.getElementById('site-find');
let chosen = 0;
let loading;

const load = () => loading ??= new Promise((resolve, reject) => {
  const script = make('script', '', { src: new URL('found.js', root).href, onload: resolve, onerror: reject });
  document.head.append(script);
});

// rank says how well a part fits the words; 0: one of them is missing.
function rank([group, title, , heading, text], words) {
  let sum = 0;
  for (const word of words) {
    const at = [[heading, 12], [title, heading ? 8 : 14], [text, 1]].reduce((best, [where, worth]) => {
      const i = where.toLowerCase().indexOf(word);
      if (i < 0) return best;
      return Math.max(best, worth * (i === 0 || !/[\p{L}\d]/u.test(where[i - 1]) ? 2 : 1));
    }, 0);
    if (at === 0) return 0;
    sum += at;
  }
  if (!heading) sum += 1;
  return group === 'For maintainers' ? sum / 8 : sum;
}

// marked appends a text to a node, with the words marked in it.
function marked(node, text, words) {
  const low = text.toLowerCase();
  for (let i = 0; i < text.length;) {
    let next = text.length;
    let length = 0;
    for (const word of words) {
      const at = low.indexOf(word, i);
      if (at >= 0 && at < next) [next, length] = [at, word.length];
    }
    node.append(text.slice(i, next));
    if (length) node.append(make('mark', text.slice(next, next + length)));
    i = next + length;
  }
  return node;
}

function excerpt(text, words) {
  const at = Math.min(...words.map((w) => text.toLowerCase().indexOf(w)).filter((i) => i >= 0), text.length);
  const from = at === text.length ? 0 : Math.max(0, at - 50);
  return (from ? '… ' : '') + text.slice(from, from + 160) + (text.length > from + 160 ? ' …' : '');
}

function choose(i) {
  const all = hits.children;
  if (!all.length) return;
  chosen = (i + all.length) % all.length;
  for (const [j, li] of [...all].entries()) li.setAttribute('aria-selected', j === chosen);
  input.setAttribute('aria-activedescendant', all[chosen].id);
  all[chosen].scrollIntoView({ block: 'nearest' });
}

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  try { await load(); } catch {
    count.textContent = 'The index cannot be read.';
    return;
  }
  const best = !words.length ? [] : found.map((part) => ({ part, worth: rank(part, words) })).filter((f) => f.worth)
    .sort((a, b) => b.worth - a.worth).slice(0, 12);
  hits.replaceChildren(...best.map(({ part: [group, title, address, heading, text] }, i) => {
    const li = make('li', '', { id: 'site-hit-' + i });
    li.setAttribute('role', 'option');
    const a = make('a', '', { href: new URL(address, root).href, tabIndex: -1 });
    a.append(marked(make('small', ''), heading ? group + ' › ' + title : group, words));
    a.append(marked(make('b', ''), heading || title, words), marked(make('span', ''), excerpt(text, words), words));
    a.addEventListener('click', () => dialog.close());
    li.append(a);
    return li;
  }));
  input.removeAttribute('aria-activedescendant');
  count.textContent = !words.length ? '' : best.length ? `${best.length} found: ↑ ↓ to choose, Enter to open` : 'Nothing found.';
  choose(0);
}

function open() {
  if (dialog.open) return;
  dialog.showModal();
  input.select();
  search();
}

find.hidden = false;
find.addEventListener('click', open);
input.addEventListener('input', search);
input.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) choose(chosen + step);
  else if (event.key === 'Enter') hits.children[chosen]?.firstChild.click();
  else if (event.key === 'Escape') dialog.close();
  else return;
  event.preventDefault();
});
dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
document.addEventListener('keydown', (event) => {
  const typing = event.target.closest?.('input, textarea, select');
  if ((event.key === '/' && !typing && !event.ctrlKey && !event.metaKey) || (event.key === 'k' && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    open();
  }
});
