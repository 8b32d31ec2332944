// Follows threads with the official client of AG-UI, which checks each event, and prints what its user has in the end: a line of JSON for
// each thread. Its arguments are the address of the endpoint, the topic, and the threads. Interrupts are answered: questions by an option,
// and pauses by going on.
import { HttpAgent } from '@ag-ui/client';

const [url, topic, ...threads] = process.argv.slice(2);
const complaints = [];
for (const level of ['warn', 'error']) console[level] = (...words) => complaints.push(words.join(' '));

for (const threadId of threads) {
	const agent = new HttpAgent({ url, threadId, initialMessages: [{ id: 'first', role: 'user', content: topic }] });
	const out = { threadId, outcomes: [], events: {}, failure: '' };
	const count = { onEvent({ event }) { out.events[event.type] = (out.events[event.type] ?? 0) + 1; } };
	const follow = async resume => {
		let outcome = '';
		await agent.runAgent(resume ? { resume } : {}, {
			...count,
			onRunFinishedEvent({ event }) { outcome = event.outcome?.type ?? 'none'; },
			onRunErrorEvent({ event }) { outcome = 'error'; out.failure = event.message; },
		});
		out.outcomes.push(outcome);
	};
	try {
		await follow();
		for (let runs = 0; agent.pendingInterrupts.length > 0 && runs < 20; runs++) {
			await follow(agent.pendingInterrupts.map(({ id }) => ({
				interruptId: id, status: 'resolved', ...(id === 'paused' ? {} : { payload: { option: 'skip' } }),
			})));
		}
	} catch (error) {
		out.failure ||= String(error);
	}
	const { messages, state } = agent;
	console.log(JSON.stringify({ ...out, messages, state, complaints: complaints.splice(0) }));
}
