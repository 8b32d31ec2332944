// The open questions of all conversations, the oldest first.
import { Ask } from './ask.js';
import { usePoll } from './list.js';
import { Trouble, html, useCallback, useState } from './ui.js';

export function Inbox({ api }) {
  const [at, set] = useState(''), ask = useCallback((signal) => api.get('questions', { after: at }, signal), [api, at]);
  const [{ value, problem }, again] = usePoll(ask), all = value?.questions ?? [];
  return html`<div class="inbox">
    <header class="title"><h1 tabindex="-1">Questions</h1></header>
    <${Trouble} problem=${problem} again=${() => again()} />
    ${value && !all.length && html`<div class="empty center"><h2>Nobody waits for an answer</h2>
      <p class="soft">Questions of all conversations come here: turns of
      people, decisions after failures, uses of tools.</p></div>`}
    ${all.map(({ conversation: c, question: q }) => html`<${Ask} key=${`${c.id} ${q.id}`} api=${api} id=${c.id} question=${q}
      conversation=${c} after=${() => again()} />`)}
    ${(value?.next || at) && html`<p class="row center">${at
      && html`<button type="button" onClick=${() => set('')}>The first ones</button>`}
      ${value?.next && html`<button type="button" onClick=${() => set(value.next)}>More questions</button>`}</p>`}
  </div>`;
}
