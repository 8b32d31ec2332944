// To start a conversation: a form for each kind, its problems at their fields, its schedule and its price.
import { budgetOf } from './change.js';
import { Face, Form, Input, Line, Text, Trouble, html, keep, useAct, useEffect, useMemo, useState } from './ui.js';
import { count, flowName, id as draw, line, spaced, told, usd } from './words.js';

const kept = 'draft new';

// begin returns the config that a form of a kind begins with.
function begin(flow) {
  switch (flow) {
    case 'debate':
      return {
        flow, topic: '', rounds: 3, judging: { judges: [{ model: '' }] },
        participants: [{ name: 'Ada', side: 'for', model: '' }, { name: 'Ben', side: 'against', model: '' }],
      };
    case 'deliberation':
      return { flow, problem: '', rounds: 2, agents: [{ id: 'ada', model: '' }, { id: 'ben', model: '' }], judge: { model: '' } };
    case 'arbiter':
      return {
        flow, task: '', arbiter: { model: '' }, agents: [{ name: 'planner', description: 'breaks the task down', model: '' },
          { name: 'writer', description: 'writes the result', model: '' }],
      };
    default:
      return { flow };
  }
}

// set returns a value in which what stands at a path is another. undefined removes it.
export function set(value, path, to) {
  const [key, ...rest] = path;
  if (key === undefined) return to;
  const copy = Array.isArray(value) ? [...value] : { ...value }, inner = set(copy[key], rest, to);
  if (inner === undefined) Array.isArray(copy) ? copy.splice(key, 1) : delete copy[key];
  else copy[key] = inner;
  return copy;
}

// modelsIn returns the models that configs name.
export function modelsIn(value, found = new Set()) {
  if (value && typeof value === 'object') {
    for (const [key, inner] of Object.entries(value)) {
      if (/^(model|standIn|summarizer)$/.test(key) && typeof inner === 'string' && inner.includes('/')) found.add(inner);
      else modelsIn(inner, found);
    }
  }
  return found;
}

// pathOf returns the name of a field as problems have it: participants[0].model.
const pathOf = (path) => path.map((p, i) => (typeof p === 'number' ? `[${p}]` : i ? `.${p}` : p)).join('');

export function Start({ api }) {
  const [given, load] = useState({}), [config, change] = useState(() => keep.json(kept));
  const [raw, edit] = useState(null), [wrong, say] = useState(''), [found, look] = useState({}), [id, renew] = useState(draw);
  useEffect(() => {
    const get = (path) => api.get(path).catch(() => ({}));
    Promise.all(['presets', 'flows', 'formats'].map(get)).then((all) => load(Object.assign({}, ...all)));
  }, [api]);
  useEffect(() => {
    if (!config) return undefined;
    keep.set(kept, JSON.stringify(config));
    const stop = new AbortController(), timer = setTimeout(() => foresee(api, config, stop.signal).then(look, () => {}), 400);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [api, config]);
  const models = useMemo(() => [...modelsIn(given.presets)].sort(), [given]);
  const start = useAct(async () => {
    try {
      const done = await api.post('conversations', { ...config, id });
      keep.drop(kept);
      location.hash = `#/c/${encodeURIComponent(done.id)}`;
    } catch (problem) {
      if (problem.status === 409) renew(draw());
      throw problem;
    }
  });
  const take = (next) => {
    change(next);
    look({});
    if (raw !== null) edit(JSON.stringify(next, null, 2));
  };
  const errors = new Map((found.problem?.all ?? []).filter((p) => p.field).map((p) => [p.field, told(p)]));
  const at = { config, errors, used: new Set(), models, formats: given.formats ?? [], put: (path, to) => change((c) => set(c, path, to)) };
  const flows = (given.flows ?? []).map((f) => f.name);
  return html`<div class="start">
    <header class="title"><h1 tabindex="-1">New conversation</h1></header>
    ${given.presets?.length > 0 && html`<section aria-labelledby="presets"><h2 id="presets">From a preset</h2><div class="cards">
      ${given.presets.map((p) => html`
      <button type="button" class="card" onClick=${() => take(p.config)}><b><${Line}>${p.name}<//></b><small><${Line}>${p.about}<//></small>
        <small class="kind">${flowName(p.config?.flow ?? '')}</small></button>`)}</div></section>`}
    ${flows.length > 0 && html`<section aria-labelledby="kinds"><h2 id="kinds">${given.presets?.length ? 'Or of a kind' : 'Which kind'}</h2>
      <div class="tabs" role="group" aria-labelledby="kinds">
        ${flows.map((f) => html`<button type="button" aria-pressed=${String(config?.flow === f)}
        onClick=${() => config?.flow === f || take(begin(f))}>${flowName(f)}</button>`)}</div></section>`}
    ${config && html`<${Form} class="sheet" act=${() => wrong || start.run()}>
      <div class="columns">
        <div class="main-column">
          <datalist id="models">${models.map((m) => html`<option value=${m} />`)}</datalist>
          ${raw === null ? html`<${Kind} at=${at} />` : html`<${Input} label="Config" error=${wrong} class="code" rows="24"
            spellcheck="false"
            hint="Durations are written as 90s, amounts as numbers of USD." value=${raw} put=${(text) => {
              edit(text);
              try {
                change(JSON.parse(text));
                say('');
              } catch (err) {
                say(`This is not JSON: ${err.message}`);
              }
            }} />`}
          <p><button type="button" class="plain" onClick=${() => {
            edit(raw === null ? JSON.stringify(config, null, 2) : null);
            say('');
          }}>${raw === null ? 'Edit as JSON' : 'Back to the form'}</button></p>
          ${raw !== null && html`<${Schema} flows=${given.flows} flow=${config.flow} />`}
        </div>
        <aside class="side-column" aria-label="What will happen"><${Foreseen} found=${found} errors=${errors} used=${at.used}
          raw=${raw !== null} /></aside>
      </div>
      <div class="dock always"><${Price} found=${found} /><button class="main" aria-disabled=${start.busy || Boolean(wrong)}>
        ${start.busy ? 'Starting …' : 'Start'}</button></div>
      <${Trouble} problem=${start.problem} />
    <//>`}
  </div>`;
}

// foresee asks what is wrong with a config and, if nothing is, what it would cost.
async function foresee(api, config, signal) {
  const ask = async (what) => (await api.response('POST', api.url(what), { body: config, signal })).json();
  try {
    await ask('validate');
  } catch (problem) {
    if (problem.name === 'AbortError') throw problem;
    return { problem };
  }
  try {
    return await ask('estimate');
  } catch (problem) {
    if (problem.name === 'AbortError') throw problem;
    return { unknown: problem };
  }
}

const Schema = ({ flows, flow }) => {
  const schema = flows?.find((f) => f.name === flow)?.schema;
  return schema && html`<details><summary>The schema</summary><${Text} as="pre">${JSON.stringify(schema, null, 2)}<//></details>`;
};

// In is a control for the text, the number or the choice at a path of the config.
function In({ at, path, ...rest }) {
  const value = path.reduce((v, key) => v?.[key], at.config) ?? '', field = pathOf(path);
  at.used.add(field);
  const put = (v) => at.put(path, v === '' && !rest.required ? undefined : rest.type === 'number' ? Number(v) : v);
  return html`<${Input} ...${rest} error=${at.errors.get(field)} value=${value} put=${put} />`;
}

// Pick is In for names of the program's own.
const Pick = ({ choices, none, ...rest }) => html`<${In} ...${rest} choices=${[['', none], ...choices.map((c) => [c, spaced(c)])]} />`;

// Model is In for the name of a model.
const Model = (rest) => html`<${In} label="Model" list="models" placeholder="provider/model" required ...${rest} />`;

// Whole is In for a number from 1.
const Whole = (rest) => html`<${In} type="number" min="1" step="1" ...${rest} />`;

const kinds = {
  debate: Debate, deliberation: Deliberation, arbiter: Arbiter,
};

function Kind({ at }) {
  const Own = kinds[at.config.flow];
  return Own ? html`<${Own} at=${at} /><${Budget} at=${at} />` : html`<p>There is no form for this kind: edit its config as JSON.</p>`;
}

function Debate({ at }) {
  const formats = at.formats.map((f) => f.format?.name ?? f.name).filter(Boolean), judges = at.config.judging?.judges ?? [];
  const chosen = at.formats.find((f) => f.format?.name === (at.config.format || 'free-form'));
  const bounds = chosen && `${chosen.least} to ${chosen.most} take part.`;
  return html`
    <${In} at=${at} path=${['topic']} label="What is debated" rows="3" required />
    <div class="row">
      ${formats.length > 0 && html`<${Pick} at=${at} path=${['format']} label="Format" choices=${formats.filter((f) => f !== 'free-form')}
        none="free-form" hint=${bounds} />`}
      <${Whole} at=${at} path=${['rounds']} label="Rounds at most" />
      <${Pick} at=${at} path=${['mode']} label="They speak" choices=${['simultaneous']} none="one after the other" />
      <${In} at=${at} path=${['language']} label="Language" placeholder="as the topic" class="short" />
    </div>
    <${People} at=${at} path=${['participants']} title="Who debates"
      fresh=${(n) => ({ name: ['Ada', 'Ben', 'Cleo', 'Dan', 'Eva', 'Finn'][n] ?? `Speaker ${n + 1}`, model: '' })}>
      ${(path, one) => html`<${In} at=${at} path=${[...path, 'name']} label="Name" required />
        <${Pick} at=${at} path=${[...path, 'side']} label="Side" choices=${['for', 'against', 'neutral']} none="none" />
        <${Who} at=${at} path=${path} one=${one} />
        <${In} at=${at} path=${[...path, 'position']} label="Argues that" class="whole" />`}<//>
    <${People} at=${at} path=${['judging', 'judges']} title="Who judges" none="Nobody: there is no verdict."
      empty=${() => at.put(['judging'], undefined)}
      fresh=${(n) => (n ? { name: `judge-${n + 1}`, model: '' } : { model: '' })}>
      ${(path, one) => html`${judges.length > 1 && html`<${In} at=${at} path=${[...path, 'name']} label="Name" placeholder="judge" />`}
        <${Who} at=${at} path=${path} one=${one} />`}<//>`;
}

function Deliberation({ at }) {
  return html`
    <${In} at=${at} path=${['problem']} label="The problem" rows="4" required />
    <${In} at=${at} path=${['context']} label="Further material" rows="3" />
    <div class="row"><${Whole} at=${at} path=${['rounds']} label="Rounds at most" />
      <${Pick} at=${at} path=${['termination', 'kind']} label="It ends" choices=${['convergence', 'quality']} none="after all rounds" />
      <${In} at=${at} path=${['language']} label="Language" placeholder="as the problem" class="short" /></div>
    <${People} at=${at} path=${['agents']} title="Who works it out" fresh=${(n) => ({ id: `agent-${n + 1}`, model: '' })}>
      ${(path, one) => html`<${In} at=${at} path=${[...path, 'id']} label="Name" required />
        <${Pick} at=${at} path=${[...path, 'role']} label="Role" none="generalist" choices=${['architect', 'data-modeling', 'performance',
          'security', 'simplicity', 'testing']} />
        <${Who} at=${at} path=${path} one=${one} />`}<//>
    <fieldset class="people"><legend>Who concludes</legend><div class="person"><${Model} at=${at} path=${['judge', 'model']}
      label="The judge's model" required=${false} /></div></fieldset>`;
}

function Arbiter({ at }) {
  return html`
    <${In} at=${at} path=${['task']} label="The task" rows="4" required />
    <div class="row"><${Whole} at=${at} path=${['maxIterations']} label="Executions at most" placeholder="50" />
      <${Whole} at=${at} path=${['parallel']} label="At once" placeholder="1" />
      <${In} at=${at} path=${['language']} label="Language" placeholder="as the task" class="short" /></div>
    <fieldset class="people"><legend>Who decides</legend><div class="person">
      <${Who} at=${at} path=${['arbiter']} one=${at.config.arbiter ?? {}} /></div></fieldset>
    <${People} at=${at} path=${['agents']} title="Who works" fresh=${(n) => ({ name: `agent-${n + 1}`, model: '' })}>
      ${(path) => html`<${In} at=${at} path=${[...path, 'name']} label="Name" required />
        <${Model} at=${at} path=${[...path, 'model']} />
        <${In} at=${at} path=${[...path, 'description']} label="Is good at" class="whole" />
        <${In} at=${at} path=${[...path, 'prompt']} label="Is told" rows="2" class="whole" />`}<//>`;
}

// Who is a model or a person.
function Who({ at, path, one }) {
  const person = Boolean(one.person);
  return html`<div class="who">
    ${person ? html`<${In} at=${at} path=${[...path, 'within']} label="A person, who has" placeholder="no limit, or 10m" />`
      : html`<${Model} at=${at} path=${[...path, 'model']} />`}
    <label class="check"><input type="checkbox" checked=${person} onChange=${(e) => {
      const { model: _, person: __, within: ___, overdue: ____, standIn: _____, ...rest } = one;
      at.put(path, e.target.checked ? { ...rest, person: true } : { ...rest, model: '' });
    }} /><span>a person</span></label></div>`;
}

function People({ at, path, title, fresh, children, none, empty }) {
  const all = path.reduce((v, key) => v?.[key], at.config) ?? [], error = at.errors.get(pathOf(path));
  at.used.add(pathOf(path));
  return html`<fieldset class="people"><legend>${title}</legend>
    ${error && html`<small class="error"><${Line}>${error}<//></small>`}
    ${!all.length && none && html`<p class="soft">${none}</p>`}
    ${all.map((one, i) => html`<div class="person" key=${i}><${Face} name=${one.name ?? one.id ?? String(i + 1)}
      tone=${`seat-${i % 8 + 1}`} />
      <div class="fields">${children([...path, i], one)}</div>
      <button type="button" class="plain remove" aria-label=${`Remove ${line(one.name ?? one.id ?? String(i + 1))}`}
        onClick=${() => (all.length === 1 && empty ? empty() : at.put([...path, i], undefined))}>×</button></div>`)}
    <button type="button" class="add" onClick=${() => at.put(path, [...all, fresh(all.length)])}>+ Add</button></fieldset>`;
}

function Budget({ at }) {
  const { budget = {} } = at.config;
  at.used.add('budget').add('budget.hard').add('budget.soft');
  const put = (v) => at.put(['budget'], v === '' ? undefined : budgetOf(budget, Number(v)));
  return html`<${Input} label="USD at most" type="number" min="0" value=${budget.hard ?? ''} put=${put}
    error=${['budget', 'budget.hard', 'budget.soft'].map((f) => at.errors.get(f)).find(Boolean)}
    hint="The rounds end early enough for a conclusion. No call starts that could pass it." />`;
}

// Foreseen is what would happen: what is wrong, or who is asked in the first round and at the end, those together who are asked at once.
function Foreseen({ found, errors, used, raw }) {
  const steps = found.estimate?.steps ?? [];
  const batches = [...new Set(steps.map((s) => s.together))].map((n) => steps.filter((s) => s.together === n));
  const elsewhere = (found.problem?.all ?? []).filter((p) => raw || !p.field || !used.has(p.field));
  if (found.problem) {
    return html`<section class="panel" role="status"><h2>Not yet</h2>${elsewhere.length > 0
      ? html`<ul>${elsewhere.slice(0, 10).map((p) => html`<li>
      ${p.field && html`<code>${line(p.field)}</code> `}<${Line}>${told(p)}<//></li>`)}</ul>`
      : html`<p>${count(errors.size, 'field has', 'fields have')} a problem.</p>`}</section>`;
  }
  if (!steps.length) return found.unknown ? html`<section class="panel"><p class="soft"><${Line}>${found.unknown.message}<//></p>
    </section>` : null;
  return html`<section class="panel schedule"><h2>The first round</h2>
    <ol>${batches.map((batch) => html`<li class=${batch[0].ends ? 'ends' : ''}>
    ${batch.slice(0, 12).map((s) => html`<span class="step"><${Face} name=${s.by} /><span><${Line}>${s.by}<//> <small>${spaced(s.kind)}
      ${s.target ? ` to ${line(s.target)}` : ''}${
      s.model ? '' : ', a person or a function'}</small></span></span>`)}
    ${batch.length > 12 && html`<small>and ${batch.length - 12} others</small>`}</li>`)}</ol>
    <p class="soft">Those in one box are asked at once. What is dashed concludes.</p></section>`;
}

function Price({ found }) {
  const e = found.estimate;
  if (!e) return html`<p class="soft">${found.problem ? 'There is something to mend first.' : ''}</p>`;
  const parts = [['usually', usd(e.typical)], ['at most', usd(e.cost)], ['all rounds with', usd(e.whole)],
    found.remains !== undefined && ['left for you', usd(found.remains)]];
  return html`<dl class="price" aria-label="Price">${parts.filter(Boolean).map(([words, n]) => html`<div><dt>${words}</dt><dd>${n}</dd>
    </div>`)}
    <div><dt>calls</dt><dd>${count(e.calls, 'call').split(' ')[0]}</dd></div></dl>`;
}
