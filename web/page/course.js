// The course of a conversation as the page shows it: rounds, in them the calls that were made at once, and lines between. It only arranges
// facts; what they mean for the conversation, the server says.

const marks = new Set(['pause', 'resume', 'stop', 'cancel', 'limit', 'fail', 'retry', 'warn', 'overdue', 'reopen']);
const lines = new Set(['warning', 'dropped', 'amended', 'retriedNow', 'sent', 'answer', 'note', 'rejected']);
const silent = new Set(['start', 'questions', 'opened', 'late', 'spend', 'continued', 'redacted']);

// secret reports whether a person who is still asked speaks at the same time, and is not to read a call's turn before.
export const secret = (cell) => Boolean(cell?.hidden && cell.group.cells.some((c) => c !== cell && c.asked && c.state === 'open'));

export class Course {
  // begins is the number of the first fact that is given: what precedes the first round is another thing with each.
  constructor(begins) {
    this.rounds = [{ key: -begins, n: 0, entries: [], version: 0 }];
    this.calls = new Map();
    this.uses = new Map();
    this.marks = new Map(); // of assessments: round → participant → scores
    this.start = null;
    this.turns = 0;
  }

  get round() { return this.rounds[this.rounds.length - 1]; }

  // open returns the calls that are being made.
  open() { return [...this.calls.values()].filter((c) => c.state === 'open' || c.state === 'waits'); }

  line(fact) { this.put({ key: `l${fact.seq}`, fact }); }

  put(entry) {
    this.round.entries.push(entry);
    this.touch(this.round);
  }

  touch(round) { round.version++; }

  // add arranges the next fact.
  add(fact) {
    const { kind, body } = fact;
    switch (kind) {
      case 'start':
        this.start = fact;
        break;
      case 'round':
        this.rounds.push({ key: fact.seq, n: body.n, of: body.of, phase: body.phase, at: fact.at, entries: [], version: 0 });
        break;
      case 'intent':
        this.begin(fact);
        break;
      case 'failed':
        this.failed(fact);
        break;
      case 'inquiry':
        this.end(body.id, (c) => { c.asked = body; });
        break;
      case 'skipped':
      case 'withdrawn':
        this.end(body.call, (c) => { c.state = 'left'; c.why = body.reason ?? ''; });
        if (kind === 'skipped') this.line(fact);
        break;
      case 'tools':
        for (const use of body.uses ?? []) this.use(body.call, use);
        break;
      case 'tool':
        this.used(body);
        break;
      case 'transition':
        if (body.to === 'completed' || body.to === 'canceled') for (const c of this.open()) this.end(c.call,
          (open) => { open.state = 'left'; });
        if (marks.has(body.on) || body.to === 'error' || body.to === 'completed' || body.to === 'canceled') this.line(fact);
        break;
      case 'rejected':
        this.end(body.call, (c) => { c.state = body.final ? 'failed' : 'waits'; });
        this.line(fact);
        break;
      default:
        if (lines.has(kind)) this.line(fact);
        else if (!silent.has(kind) && body?.call) this.contributed(fact);
    }
    if (kind === 'assessment') this.mark(body);
  }

  begin(fact) {
    const { body } = fact, known = this.calls.get(body.call);
    if (body.kind === 'tool') {
      this.used({ call: body.call, pending: true });
      return;
    }
    if (known) {
      Object.assign(known, { state: 'open', attempt: body.attempt, since: fact.at, trouble: null, model: body.model });
      this.changed(known);
      return;
    }
    this.cell({
      call: body.call, by: body.by, kind: body.kind, target: body.target, slot: body.slot, hidden: body.hidden, model: body.model,
      state: 'open', attempt: body.attempt, since: fact.at,
    });
  }

  // cell puts a call beside those that are being made, or below all.
  cell(given) {
    const cell = { key: given.call, uses: [], version: 0, ...given }, entries = this.round.entries;
    let last = entries.length - 1;
    while (last >= 0 && entries[last].fact && last > entries.length - 6) last--; // lines stand between calls that are made at once
    let group = entries[last]?.cells ? entries[last] : null;
    if (!group || !group.cells.some((c) => c.state === 'open' || c.state === 'waits')) {
      group = { key: `g${cell.call}`, cells: [], version: 0 };
      entries.push(group);
    }
    group.cells.push(cell);
    cell.group = group;
    cell.round = this.round;
    this.calls.set(cell.call, cell);
    this.changed(cell);
    return cell;
  }

  changed(cell) {
    cell.version++;
    cell.group.version++;
    this.touch(cell.round);
  }

  end(call, change) {
    const cell = this.calls.get(call);
    if (!cell) return;
    change(cell);
    this.changed(cell);
  }

  contributed(fact) {
    const { body } = fact, by = body.speaker ?? body.judge ?? body.voter ?? body.by;
    const cell = this.calls.get(body.call) ?? this.cell({ call: body.call, by: by ?? '', kind: body.kind ?? fact.kind, state: 'open' });
    cell.state = 'done';
    cell.fact = fact;
    cell.hidden = body.hidden;
    if (fact.kind === 'turn') this.turns++;
    this.changed(cell);
  }

  failed(fact) {
    const { body } = fact;
    this.end(body.call, (c) => {
      if (c.state === 'left') return;
      c.state = body.final ? 'failed' : 'waits';
      c.trouble = body;
    });
    if (!body.void) this.line(fact);
  }

  use(call, asked) {
    this.end(call, (c) => {
      const use = { ...asked, state: 'open' };
      c.uses = [...c.uses, use];
      this.uses.set(asked.use, c);
    });
  }

  used(result) {
    const cell = this.uses.get(result.call);
    if (!cell) return;
    cell.uses = cell.uses.map((u) => u.use !== result.call ? u : { ...u, state: result.pending ? 'open' : 'done', result });
    this.changed(cell);
  }

  mark(body) {
    const round = this.marks.get(body.round) ?? new Map();
    for (const each of body.assessments ?? []) {
      if (typeof each.score === 'number') round.set(each.participant, [...round.get(each.participant) ?? [], each.score]);
    }
    if (round.size) this.marks.set(body.round, round);
  }
}
