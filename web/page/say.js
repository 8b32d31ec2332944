// A word in between, by somebody who takes no part.
import { of } from './api.js';
import { Form, Input, Trouble, announce, html, useAct, useState } from './ui.js';
import { bytes, id as draw, line } from './words.js';

const most = 20000; // bytes

export function Say({ conv, api }) {
  const [note, set] = useState({ text: '', as: '', to: '', ask: '' }), left = most - bytes(note.text), [asides, allow] = useState(false);
  const put = (name) => (value) => set({ ...note, [name]: value });
  const look = async () => { // whether the format has answers out of turn
    const { formats = [] } = await api.get('formats').catch(() => ({}));
    const name = conv.read.record.format || 'free-form', own = conv.config.customFormat;
    allow([...formats.map((f) => f.format), ...own ? [own] : []].some((f) => f.name === name && f.asides > 0));
  };
  const send = useAct(async () => {
    const { text, as, to, ask } = note;
    if (left < 0 || !text.trim()) return;
    await api.post(of(conv.id, 'say'), { id: draw(), text, ...as && { as }, ...ask ? { ask } : to && { to: [to] } });
    set({ ...note, text: '', ask: '' });
    announce('Your note was sent.');
    conv.askSoon(0);
  });
  const names = conv.names.map((n) => [n, line(n)]);
  return html`<details class="say" onToggle=${(e) => e.target.open && look()}><summary>Say something in between</summary>
    <${Form} act=${send.run}>
    <${Input} label="Your words" rows="3" required value=${note.text} put=${put('text')}
      error=${left < 0 && `It is ${-left} bytes too long.`}
      hint="Those who take part read them from their next turn on, as a remark and not as an order." />
    <div class="row">
      <${Input} label="As" maxlength="64" placeholder="A listener" value=${note.as} put=${put('as')} />
      ${!note.ask && html`<${Input} label="For" value=${note.to} put=${put('to')} choices=${[['', 'everybody'], ...names]} />`}
      ${asides && html`<${Input} label="Who answers at once" value=${note.ask} put=${put('ask')}
        choices=${[['', 'nobody'], ...names]} />`}
      <button class="main" aria-disabled=${send.busy || left < 0 || !note.text.trim()}>Send</button>
    </div>
    <${Trouble} problem=${send.problem} />
  <//></details>`;
}
