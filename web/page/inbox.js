// The open questions of all conversations, the oldest first.
import { Ask, useHeld } from './ask.js';
import { usePoll } from './list.js';
import { Trouble, html, useCallback, useState } from './ui.js';

export function Inbox({ api }) {
  const [at, set] = useState(''), ask = useCallback((signal) => api.get('questions', { after: at }, signal), [api, at]);
  const [{ value, problem }, again] = usePoll(ask), all = value?.questions ?? [];
  const [, draw] = useState(0), held = useHeld(all.map(({ conversation, question: q }) => ({ id: conversation.id, q, conversation })));
  const put = (away) => (away ? draw((n) => n + 1) : again());
  return html`<div class="inbox">
    <header class="title"><h1 tabindex="-1">Questions</h1></header>
    <${Trouble} problem=${problem} again=${() => again()} />
    ${value && !held.length && html`<div class="empty center"><h2>Nobody waits for an answer</h2>
      <p class="soft">Questions of all conversations come here: turns of
      people, decisions after failures, uses of tools.</p></div>`}
    ${held.map(({ key, id, q, conversation, open }) => html`<${Ask} key=${key} api=${api} id=${id} question=${q} open=${open}
      conversation=${conversation} after=${put} />`)}
    ${(value?.next || at) && html`<p class="row center">${at
      && html`<button type="button" onClick=${() => set('')}>The first ones</button>`}
      ${value?.next && html`<button type="button" onClick=${() => set(value.next)}>More questions</button>`}</p>`}
  </div>`;
}
