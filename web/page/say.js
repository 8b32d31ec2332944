// A word in between, by somebody who takes no part.
import { of } from './api.js';
import { Field, Trouble, announce, html, useAct, useState } from './ui.js';
import { bytes, id as draw, line } from './words.js';

const most = 20000; // bytes

export function Say({ conv, api }) {
  const [note, set] = useState({ text: '', as: '', to: '' });
  const change = (name) => (e) => set({ ...note, [name]: e.target.value });
  const send = useAct(async () => {
    await api.post(of(conv.id, 'say'), {
      id: draw(), text: note.text, ...note.as && { as: note.as }, ...note.to && { to: [note.to] },
    });
    set({ ...note, text: '' });
    announce('Your note was sent.');
    conv.askSoon(0);
  });
  const left = most - bytes(note.text), names = conv.names;
  return html`<details class="say"><summary>Say something in between</summary>
    <form onSubmit=${(e) => {
      e.preventDefault();
      send.run();
    }}>
      <${Field} label="Your words" hint="Those who take part read them from their next turn on, as a remark and not as an order."
        error=${left < 0 ? `It is ${-left} bytes too long.` : ''}>
        ${(a) => html`<textarea ...${a} rows="3" required dir="auto" value=${note.text} onInput=${change('text')} />`}<//>
      <div class="row">
        <${Field} label="As">${(a) => html`<input ...${a} maxlength="64" placeholder="A listener" value=${note.as} onInput=${change('as')} />`}<//>
        <${Field} label="For">${(a) => html`<select ...${a} value=${note.to} onChange=${change('to')}>
          <option value="">everybody</option>${names.map((n) => html`<option value=${n}>${line(n)}</option>`)}</select>`}<//>
        <button class="main" disabled=${send.busy || left < 0 || !note.text.trim()}>Send</button>
      </div>
      <${Trouble} problem=${send.problem} />
    </form></details>`;
}
