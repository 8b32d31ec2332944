// What changes a conversation that goes on: its limit, its rounds, the model of a seat, and the inputs of its flow.
import { of } from './api.js';
import { Dialog, Form, Input, Trouble, announce, html, useAct, useState } from './ui.js';
import { cut, line, spaced } from './words.js';

// budgetOf returns a budget with another limit of the cost. It is the soft limit too: so the rounds end early enough for a conclusion, and
// a conversation that has ended at its soft limit can go on. 0: the cost has no limit.
export function budgetOf(former, limit) {
  const { soft: _, hard: __, ...rest } = former ?? {};
  return limit ? { ...rest, soft: limit, hard: limit } : rest;
}

// Change is a dialog for the settings of a conversation.
export function Change({ conv, api, limit, close }) {
  const { budget, rounds } = conv.settings, text = (n) => (n ? String(n) : '');
  const began = { hard: text(limit), rounds: text(rounds), who: '', model: '' };
  const [form, set] = useState(began), put = (name) => (value) => set({ ...form, [name]: value });
  const act = useAct(async () => {
    const body = {
      ...form.hard !== began.hard && { budget: budgetOf(budget, Number(form.hard)) },
      ...form.rounds !== began.rounds && { rounds: Number(form.rounds) },
      ...form.who && { models: { [form.who]: { model: form.model } } },
    };
    if (Object.keys(body).length) {
      await api.post(of(conv.id, 'amend'), body);
      announce('The settings are changed.');
    }
    close();
    conv.askSoon(0);
  });
  return html`<${Dialog} title="Change the settings" close=${close}><${Form} act=${act.run}>
    <${Input} label="USD at most" type="number" min="0" value=${form.hard} put=${put('hard')}
      hint="The rounds end early enough for a conclusion. No call starts that could pass it. Empty: no limit." />
    ${rounds > 0 && html`<${Input} label=${conv.read.record.flow === 'arbiter' ? 'Executions at most' : 'Rounds at most'} type="number"
      min="1" step="1" required value=${form.rounds} put=${put('rounds')} />`}
    <${Input} label="Another model for" value=${form.who} put=${put('who')}
      choices=${[['', 'nobody'], ...conv.names.map((n) => [n, line(n)])]} />
    ${form.who && html`<${Input} label="Model" placeholder="provider/model" required value=${form.model} put=${put('model')} />`}
    <div class="row end"><button class="main" aria-disabled=${act.busy}>Change</button></div>
    <${Trouble} problem=${act.problem} />
  <//><//>`;
}

// known are the inputs of arbitrated work: what a button says, what it leads to, and the control for its payload.
const known = {
  'force-agent': ['Choose who acts', 'The agent acts next, whatever the arbiter decides.', 'agent'],
  'skip-step': ['Skip a step', 'The step of the plan is left out.', 'step'],
  'rerun-step': ['Do a step again', 'The step of the plan is to be done again, and is the next one.', 'step'],
};
const named = (trigger) => known[trigger]?.[0] ?? spaced(trigger).replace(/^./, (c) => c.toUpperCase());

// Inputs are buttons for the inputs of the flow that are possible now.
export function Inputs({ conv, api, inputs }) {
  const [trigger, ask] = useState('');
  return html`<section class="controls" aria-label="Inputs">
    ${inputs.map((t) => html`<button type="button" onClick=${() => ask(t)}>${named(t)} …</button>`)}
    ${trigger && html`<${Send} conv=${conv} api=${api} trigger=${trigger} close=${() => ask('')} />`}
  </section>`;
}

function Send({ conv, api, trigger, close }) {
  const [value, set] = useState(''), [reason, say] = useState(''), [, words, key] = known[trigger] ?? [];
  const act = useAct(async () => {
    const payload = key === 'agent' ? { agent: value } : key === 'step' ? { step: Number(value) } : value.trim() && JSON.parse(value);
    await api.post(of(conv.id, 'send'), { trigger, ...payload && { payload }, ...reason && { reason } });
    announce(`${named(trigger)}: done.`);
    close();
    conv.askSoon(0);
  });
  const steps = (conv.read.record.plan?.steps ?? []).map((s) => [String(s.index), `${s.index + 1}. ${cut(s.description, 60)} (${
    spaced(s.status)})`]);
  const choices = key === 'agent' ? conv.names.map((n) => [n, line(n)]) : key === 'step' ? steps : undefined;
  return html`<${Dialog} title=${named(trigger)} close=${close}><${Form} act=${act.run}>
    ${words && html`<p>${words}</p>`}
    ${choices ? html`<${Input} label=${key === 'agent' ? 'The agent' : 'The step'} required value=${value} put=${set}
      choices=${[['', ''], ...choices]} />` : html`<${Input} label="Payload, as JSON" class="code" rows="6" spellcheck="false"
      hint="It may be empty." value=${value} put=${set} />`}
    <${Input} label="Why" hint="The log keeps it. It may be empty." maxlength="200" value=${reason} put=${say} />
    <div class="row end"><button class="main" aria-disabled=${act.busy}>${named(trigger)}</button></div>
    <${Trouble} problem=${act.problem} />
  <//><//>`;
}
