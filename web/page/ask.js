// A question to a person, and the form that answers it.
import { of } from './api.js';
import { At, Face, Files, Form, Input, Line, Text, Trouble, announce, html, keep, useAct, useId, useLayoutEffect, useNow, useRef,
  useState } from './ui.js';
import { bytes, clock, count, line, meaning, span, spaced, told as sentence } from './words.js';

// resolved returns a schema without references and without null, and whether null is allowed.
export function resolved(schema, root = schema, depth = 0) {
  if (!schema || typeof schema !== 'object' || depth > 8) return [{}, false];
  if (typeof schema.$ref === 'string') {
    const found = schema.$ref.replace(/^#\//, '').split('/').reduce((at, key) => at?.[key], root);
    return resolved(found, root, depth + 1);
  }
  const kinds = [schema.type].flat(), any = schema.anyOf ?? schema.oneOf;
  if (any) {
    const rest = any.filter((s) => s.type !== 'null');
    if (rest.length === 1) return [resolved(rest[0], root, depth + 1)[0], rest.length < any.length];
  }
  const nullable = kinds.includes('null') || schema.enum?.includes(null) || false;
  return [{ ...schema, type: kinds.find((k) => k !== 'null'), ...schema.enum && { enum: schema.enum.filter((v) => v !== null) } },
    nullable];
}

// fieldsOf returns the fields of a form for the answers that a schema describes, or null if they need JSON.
export function fieldsOf(schema, root = schema, path = []) {
  const [at] = resolved(schema, root);
  if (at.type !== 'object' || !at.properties || path.length > 3) return null;
  const fields = [];
  for (const [name, each] of Object.entries(at.properties)) {
    const [one, nullable] = resolved(each, root), here = [...path, name], required = (at.required ?? []).includes(name) && !nullable;
    const field = { path: here, name, required, nullable, about: one.description ?? '' };
    if (one.const !== undefined) fields.push({ ...field, kind: 'fixed', value: one.const });
    else if (one.enum) {
      fields.push({ ...field, kind: one.enum.length === 1 && required ? 'fixed' : 'choice', value: one.enum[0], choices: one.enum });
    }
    else if (one.type === 'boolean') fields.push({ ...field, kind: 'choice', choices: [true, false] });
    else if (one.type === 'number' || one.type === 'integer') {
      fields.push({ ...field, kind: 'number', min: one.minimum, max: one.maximum, step: one.type === 'integer' ? 1 : 'any' });
    } else if (one.type === 'string') fields.push({ ...field, kind: 'text', max: one.maxLength });
    else if (one.type === 'array' && resolved(one.items, root)[0].type === 'string') {
      fields.push({ ...field, kind: 'list', choices: resolved(one.items, root)[0].enum });
    }
    else {
      const inner = fieldsOf(one, root, here);
      if (!inner) return null;
      fields.push({ ...field, kind: 'group', fields: inner });
    }
  }
  return fields;
}

const none = 'none'; // the choice of no choice

// answered builds the answer from the values of a form, by the paths of its fields.
export function answered(fields, values) {
  const out = {};
  for (const f of fields) {
    const given = values[f.path.join('.')];
    if (f.kind === 'group') out[f.name] = answered(f.fields, values);
    else if (f.kind === 'fixed') out[f.name] = f.value;
    else if (f.kind === 'list') out[f.name] = Array.isArray(given) ? given : (given ?? '').split('\n').map((s) => s.trim()).filter(Boolean);
    else if (f.kind === 'choice') out[f.name] = given === undefined || given === none ? null : f.choices[Number(given)];
    else if (f.kind === 'number') out[f.name] = given === undefined || given === '' ? null : Number(given);
    else out[f.name] = given ?? '';
    if (out[f.name] === null && !f.nullable || out[f.name] === '' && !f.required) delete out[f.name];
  }
  return out;
}

// useHeld returns the open questions and, so that nobody's words vanish, those that are gone for which there is a draft here.
export function useHeld(open) {
  const held = useRef(new Map()), now = new Map(open.map((one) => [draft(one.id, one.q), one]));
  for (const key of held.current.keys()) if (!now.has(key) && !keep.json(key)) held.current.delete(key);
  for (const [key, one] of now) held.current.set(key, one);
  return [...held.current].map(([key, one]) => ({ key, ...one, open: now.has(key) }));
}

// Ask shows a question and answers it. by says who has answered, if it is no longer open.
export function Ask({ api, id, question: q, conversation, after, open = true, by }) {
  const title = useId(), [told, set] = useState(null), gone = told ?? (open ? null : by ?? {}), outcome = useRef();
  useLayoutEffect(() => { if (told) outcome.current?.focus({ preventScroll: true }); }, [told]);
  const answer = useAct(async (body) => {
    try {
      await api.post(of(id, 'questions', encodeURIComponent(q.id)), body);
      keep.drop(draft(id, q));
      announce('Your answer is recorded.');
      set({ own: true });
    } catch (problem) {
      if (!problem.body?.answered) throw problem;
      announce(problem.message);
      set(problem.body.answered);
    }
    after?.();
  });
  return html`<article class="question" aria-labelledby=${title}>
    <header>
      <${Face} name=${q.to || '?'} />
      <${conversation ? 'h2' : 'h3'} id=${title}>${headline(q)}<//>
      <${Until} q=${q} />
    </header>
    ${conversation && html`<p class="of"><a href=${`#/c/${encodeURIComponent(id)}`}><${Line}>${conversation.topic || id}<//></a></p>`}
    <${Text} as="div" class="words">${q.question}<//>
    ${q.use && html`<div class="use"><p>Tool <code>${line(q.use.tool)}</code>
      ${q.use.attempt > 0 ? `, attempt ${q.use.attempt}: its outcome is not known` : ''}</p>
      <${Text} as="pre">${q.use.arguments}<//>${q.use.cut && html`<p class="soft">There is more of it.</p>`}</div>`}
    ${q.failure && html`<p class="soft"><${Line}>${sentence({ detail: q.failure.message || spaced(q.failure.kind), hint: q.failure.hint })}
      <//>
      </p>`}
    <${Reads} q=${q} api=${api} id=${id} />
    ${gone ? html`<p class="told" role="status" tabindex="-1" ref=${outcome}>${gone.own ? 'Your answer is recorded.' : html`
        ${gone.at ? html`<${Line}>${gone.person || (gone.rule ? 'A rule' : 'Somebody else')}<//> has answered at ${clock(gone.at)}${
          gone.option && html`: ${meaning(gone.option)}`}` : 'This question is no longer open'}. Your words were not sent.`}</p>
      ${!gone.own && keep.json(draft(id, q))?.text && html`<${Text} as="div" class="words soft">${keep.json(draft(id, q)).text}<//>`}
      ${!open && html`<button type="button" onClick=${() => {
        keep.drop(draft(id, q));
        after?.(true);
      }}>Put it away</button>`}`
      : q.options?.length ? html`<${Options} q=${q} answer=${answer} />` : html`<${Own} id=${id} q=${q} answer=${answer} />`}
    <${Trouble} problem=${answer.problem} />
  </article>`;
}

const draft = (id, q) => `draft ${id} ${q.id}`;

function headline(q) {
  if (q.use) return html`<${Line}>${q.to}<//> wants to use a tool`;
  if (q.about?.length) return html`<${Line}>${[...new Set(q.about.map((a) => a.by))].join(', ')}<//> could not answer`;
  if (q.options?.length) return 'A decision';
  return html`<${Line}>${q.to}<//>: ${spaced(q.kind)}`;
}

function Until({ q }) {
  const now = useNow(1000, Boolean(q.until)), left = new Date(q.until) - now;
  if (!q.until) return null;
  return html`<p class="what ${left < 60000 ? 'grave' : ''}">${left > 0 ? `${span(left)} left`
    : html`since <${At} at=${q.until} /> overdue`}${
    q.overdue && q.overdue !== 'wait' ? `, then: ${meaning(q.overdue).toLowerCase()}` : ''}</p>`;
}

// Reads is what the person may read before answering.
function Reads({ q, api, id }) {
  const reads = q.reads ?? [];
  if (!reads.length && !q.documents?.length) return null;
  return html`<details class="reads"><summary>${[reads.length && `What was said: ${count(reads.length, 'message')}`,
    q.documents?.length && count(q.documents.length, 'document')].filter(Boolean).join(', ')}</summary>
    ${q.documents?.map((d) => html`<p><b><${Line}>${d.name || 'The topic'}<//></b></p>
      <${Files} api=${api} id=${id} files=${d.files ?? []} />`)}
    ${reads.map((p) => html`<section class=${p.own ? 'own' : ''}><p><b><${Line}>${p.speaker}<//></b>${p.own && ' (you)'}
      <small> <${Line}>${p.label}<//></small></p>
      <${Text} as="div" class="words">${p.text}<//></section>`)}
  </details>`;
}

// Options are the answers of a decision. Each button sends its own answer to this question alone.
function Options({ q, answer }) {
  const [chosen, set] = useState(''), [more, say] = useState(''), [by, whose] = useState('');
  const whom = (option) => [...new Set((q.about ?? []).filter((a) => a.options?.includes(option)).map((a) => a.by))];
  const needs = (option) => ['model', 'deny', 'done'].includes(option) || (option === 'skip' || option === 'drop')
    && whom(option).length > 1;
  const send = (option) => answer.run({
    option, ...option === 'model' ? { model: more } : more && (option === 'deny' || option === 'done') ? { text: more } : {},
    ...by && { by },
  });
  const labels = { model: 'Model, as provider/model', deny: 'Reason, may be empty', done: 'What the tool has answered, may be empty' };
  return html`<div class="options">
    ${q.options.map((o) => html`<button type="button" class=${o === 'retry' || o === 'continue' ? 'main' : ''} aria-disabled=${answer.busy}
      aria-expanded=${needs(o) ? String(chosen === o) : undefined} onClick=${() => (needs(o) ? set(o) : send(o))}>${meaning(o)}</button>`)}
    ${chosen && html`<${Form} class="more" act=${() => send(chosen)}>
      ${labels[chosen] ? html`<${Input} label=${labels[chosen]} required=${chosen === 'model'} value=${more} put=${say} />`
        : html`<${Input} label="For whom" required value=${by} put=${whose}
          choices=${[['', ''], ...whom(chosen).map((n) => [n, line(n)])]} />`}
      <button class="main" aria-disabled=${answer.busy}>${meaning(chosen)}</button><//>`}
  </div>`;
}

const maxFile = 10 << 20;

function Own({ id, q, answer }) {
  const key = draft(id, q), fields = q.schema && fieldsOf(q.schema), raw = q.schema && !fields;
  const [values, set] = useState(() => keep.json(key) ?? {});
  const [files, attach] = useState([]), [wrong, say] = useState('');
  const change = (name, value) => {
    const next = { ...values, [name]: value };
    set(next);
    keep.set(key, JSON.stringify(next));
  };
  const text = values.text ?? '', left = q.max ? q.max - bytes(text) : 0;
  const send = () => {
    if (left < 0) return;
    say('');
    if (fields) answer.run({ text: JSON.stringify(answered(fields, values)) });
    else if (raw) {
      try {
        JSON.parse(text);
        answer.run({ text });
      } catch (err) {
        say(`This is not JSON: ${err.message}`);
      }
    } else answer.run({ text, ...files.length && { files } });
  };
  const read = async (list) => attach(await Promise.all([...list].filter((f) => f.size <= maxFile).map(async (f) => ({
    name: f.name, type: f.type, data: await base64(f),
  }))));
  return html`<${Form} class="answer" act=${send}>
    ${fields ? html`<${Fields} fields=${fields} values=${values} change=${change} />`
      : html`<${Input} label=${raw ? 'Your answer, as JSON' : 'Your answer'}
      class=${raw ? 'code' : ''} rows=${raw ? 10 : 6} required value=${text} put=${(v) => change('text', v)}
      error=${wrong || left < 0 && `It is ${-left} bytes too long.`}
      hint=${left >= 0 && left < q.max / 5 && `${count(left, 'byte')} left`} />`}
    ${raw && html`<details><summary>The schema</summary><${Text} as="pre">${JSON.stringify(q.schema, null, 2)}<//></details>`}
    <div class="row">
      ${!q.schema && html`<label class="file">Files<input type="file" multiple onChange=${(e) => read(e.target.files)} /></label>`}
      <button class="main" aria-disabled=${answer.busy || left < 0}>${answer.busy ? 'Sending …' : 'Answer'}</button>
    </div>
  <//>`;
}

async function base64(file) {
  const data = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let i = 0; i < data.length; i += 0x8000) text += String.fromCharCode(...data.subarray(i, i + 0x8000));
  return btoa(text);
}

// Fields are the controls of a form that a schema describes.
export function Fields({ fields, values, change }) {
  const group = useId();
  return fields.map((f) => {
    const name = f.path.join('.'), label = spaced(f.name).replace(/^./, (c) => c.toUpperCase()), about = line(f.about),
      value = values[name] ?? '';
    const put = (v) => change(name, v), { required } = f;
    const set = (controls) => html`<fieldset class="choice"><legend>${label}</legend>${about && html`<small>${about}</small>`}
      <div class="radios">${controls}</div></fieldset>`;
    switch (f.kind) {
      case 'fixed':
        return null;
      case 'group':
        return html`<fieldset><legend>${label}</legend><${Fields} fields=${f.fields} values=${values} change=${change} /></fieldset>`;
      case 'choice': {
        const words = (v) => (v === none ? 'None' : typeof v === 'boolean' ? (v ? 'Yes' : 'No') : line(v));
        const all = f.choices.map((c, i) => [String(i), c]).concat(f.nullable || !required ? [[none, none]] : []);
        return set(all.map(([v, c]) => html`<label><input type="radio" name=${group + name} required=${required || f.nullable}
          checked=${value === v}
          onChange=${() => put(v)} /><span>${words(c)}</span></label>`));
      }
      case 'list': {
        if (!f.choices) return html`<${Input} label=${label} hint=${`${about} One on each line.`.trim()} rows="3" value=${value}
          put=${put} />`;
        const chosen = Array.isArray(value) ? value : [];
        return set(f.choices.map((c) => html`<label><input type="checkbox" checked=${chosen.includes(c)}
          onChange=${(e) => put(e.target.checked ? [...chosen, c] : chosen.filter((x) => x !== c))} /><span>${line(c)}</span></label>`));
      }
      case 'number':
        return html`<${Input} label=${label} 
          hint=${[about, f.max !== undefined && `From ${f.min ?? 0} to ${f.max}.`].filter(Boolean).join(' ')}
          type="number" min=${f.min} max=${f.max} step=${f.step} required=${required} value=${value} put=${put} />`;
      default:
        return html`<${Input} label=${label} hint=${about} rows="3" required=${required} maxlength=${f.max} value=${value} put=${put} />`;
    }
  });
}
