// A word in between, by somebody who takes no part.
import { of } from './api.js';
import { Form, Input, Trouble, announce, html, useAct, useState } from './ui.js';
import { bytes, id as draw, line } from './words.js';

const most = 20000; // bytes

export function Say({ conv, api }) {
  const [note, set] = useState({ text: '', as: '', to: '' }), left = most - bytes(note.text);
  const put = (name) => (value) => set({ ...note, [name]: value });
  const send = useAct(async () => {
    const { text, as, to } = note;
    await api.post(of(conv.id, 'say'), { id: draw(), text, ...as && { as }, ...to && { to: [to] } });
    set({ ...note, text: '' });
    announce('Your note was sent.');
    conv.askSoon(0);
  });
  return html`<details class="say"><summary>Say something in between</summary><${Form} act=${send.run}>
    <${Input} label="Your words" rows="3" required value=${note.text} put=${put('text')}
      error=${left < 0 && `It is ${-left} bytes too long.`}
      hint="Those who take part read them from their next turn on, as a remark and not as an order." />
    <div class="row">
      <${Input} label="As" maxlength="64" placeholder="A listener" value=${note.as} put=${put('as')} />
      <${Input} label="For" value=${note.to} put=${put('to')} choices=${[['', 'everybody'], ...conv.names.map((n) => [n, line(n)])]} />
      <button class="main" disabled=${send.busy || left < 0 || !note.text.trim()}>Send</button>
    </div>
    <${Trouble} problem=${send.problem} />
  <//></details>`;
}
