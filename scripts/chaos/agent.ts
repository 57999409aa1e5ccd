import { setTimeout as pause } from 'node:timers/promises';
import type { CallView } from '@patchboard/wire';
import { REMOTE_TOOL, FORGOTTEN_TOOL } from './client.ts';
import { DEVICE_TOOL } from './load-device.ts';
import { now, saysNothingRecorded, type History, type Invocation, type RequestKind } from './history.ts';
import { orGone, textOf } from './http.ts';
import type { ServerAddress } from './server-address.ts';
import type { Api } from './server-api.ts';
import { TOOLS } from './pack.ts';
import type { SeededRandom } from './seeded-random.ts';

const TOOL_OF: Readonly<Record<RequestKind, string>> = {
  quick: TOOLS.quick,
  slow: TOOLS.slow,
  effect: TOOLS.effect,
  keyed: TOOLS.effect,
  remote: REMOTE_TOOL,
  forgotten: FORGOTTEN_TOOL,
  ask: TOOLS.ask,
  askReturned: TOOLS.askReturned,
  approve: TOOLS.approve,
  device: DEVICE_TOOL,
};
const KINDS: readonly RequestKind[] = [
  'quick',
  'quick',
  'slow',
  'effect',
  'effect',
  'keyed',
  'keyed',
  'remote',
  'remote',
  'remote',
  'forgotten',
  'ask',
  'ask',
  'askReturned',
  'askReturned',
];

/** Pause between two requests: the load is many agents, not a benchmark. */
const PAUSE_MS = 15;
const REFUSED_PAUSE_MS = 100;
/** How long a read waits for the end of a call. */
const WAIT_S = 2;

export interface AgentParts {
  readonly history: History;
  readonly address: ServerAddress;
  /** Numbers the requests of all agents. */
  readonly nextNumber: () => number;
  /** Besides the kinds that every server has. */
  readonly moreKinds: readonly RequestKind[];
  /** Called right after a 2xx response. */
  readonly onReceipt: () => void;
}

/** One agent: invokes, waits, reads and cancels until the test ends. */
export async function runAgent(parts: AgentParts, random: SeededRandom): Promise<void> {
  const mine: string[] = [];
  for (;;) {
    const api = await parts.address.wait();
    if (api === null) return;
    const wish = random.next();
    if (wish < 0.6 || mine.length === 0) {
      const ids = await invoke(parts, random);
      mine.push(...ids);
      for (const id of ids) if (random.chance(0.3)) await look(parts, api, id, random.chance(0.5));
    } else if (wish < 0.8) await respondTo(parts, api, random.pick(mine.slice(-6)), random);
    else if (wish < 0.92) await look(parts, api, random.pick(mine), random.chance(0.5));
    else await cancel(parts, api, random.pick(mine.slice(-2)));
    await pause(PAUSE_MS * random.next());
  }
}

async function invoke(parts: AgentParts, random: SeededRandom): Promise<string[]> {
  const { history } = parts;
  const n = parts.nextNumber();
  const kind = random.pick([...KINDS, ...parts.moreKinds]);
  const invocation: Invocation = { n, kind, acknowledged: new Set(), sent: 0, refused: 0 };
  history.invocations.set(n, invocation);
  const ms = kind === 'slow' ? random.between(0, 200) : random.between(0, 40);
  // Repeat a request with the same key after every uncertain response, and sometimes a third time.
  let again = kind === 'keyed' && random.chance(0.3) ? 1 : 0;
  for (;;) {
    const response = await invokeOnce(parts, invocation, ms);
    if (response === 'over') break;
    if (response === 'responded' && again-- <= 0) break;
    if (response !== 'responded' && kind !== 'keyed') break;
  }
  return [...invocation.acknowledged];
}

async function invokeOnce(
  parts: AgentParts,
  invocation: Invocation,
  ms: number,
): Promise<'responded' | 'refused' | 'gone' | 'over'> {
  const { history, address } = parts;
  const { n, kind, acknowledged } = invocation;
  const api = await address.wait();
  if (api === null) return 'over';
  const headers: Record<string, string> = kind === 'keyed' ? { 'idempotency-key': `key-${n}` } : {};
  const body = { run_id: `run_${n}`, args: { n, ms } };
  invocation.sent += 1;
  const path = `/v1/tools/${TOOL_OF[kind]}/invoke`;
  const response = await history.exchange('invoke', n, () => orGone(api.post(path, body, { headers })));
  if (response === null) return 'gone';
  const id = response.body['tool_call_id'];
  if (response.status >= 200 && response.status < 300 && typeof id === 'string') {
    acknowledged.add(id);
    parts.onReceipt();
  } else if (history.isExcused(response)) {
    if (saysNothingRecorded(response)) invocation.refused += 1;
    await pause(REFUSED_PAUSE_MS);
    return 'refused';
  } else if (kind === 'device' && response.status === 404) {
    // No device offers the tool while it is away.
    invocation.refused += 1;
    return 'refused';
  } else if (response.status !== 503) {
    history.violations.push(`invoke ${n} (${kind}) got ${textOf(response)}`);
  }
  return 'responded';
}

/** G21: a call whose receipt was received can be read. */
async function look({ history }: AgentParts, api: Api, id: string, wait: boolean): Promise<void> {
  const headers: Record<string, string> = wait ? { prefer: `wait=${WAIT_S}` } : {};
  const path = `/v1/tool_calls/${id}`;
  const [before, sentAt] = [history.known(id), now()];
  const response = await history.exchange('read', id, () => orGone(api.get(path, { headers })));
  if (response === null || history.isExcused(response)) return;
  if (wait) history.waits.push({ callId: id, node: response.node, sentAt, answeredAt: now() });
  if (response.status === 200) history.sawCall(response.body as unknown as CallView, before);
  else history.violations.push(`${id} was acknowledged, and reading it got ${textOf(response)}`);
}

/** Gives what the call waits for, twice at the same time: one is taken. */
async function respondTo(parts: AgentParts, api: Api, callId: string, random: SeededRandom): Promise<void> {
  const { history } = parts;
  const read = await orGone(api.get(`/v1/tool_calls/${callId}`));
  const view = read?.body as CallView | undefined;
  if (view?.state === 'APPROVAL_REQUIRED') return await decide(parts, api, view);
  const request = view?.input_request;
  if (request === undefined) return;
  const contents = [random.between(1, 1_000_000), random.between(1, 1_000_000)];
  await Promise.all(
    contents.map(async (content) => {
      const body = { id: request.id, content };
      const path = `/v1/tool_calls/${callId}/input`;
      const response = await history.exchange('input', callId, () => orGone(api.post(path, body)));
      if (response === null || history.isExcused(response)) return;
      if (response.status === 200) history.inputTaken(callId, request.id, content);
      else if (response.status !== 409)
        history.violations.push(`input for ${callId} got ${textOf(response)}`);
    }),
  );
}

async function decide({ history }: AgentParts, api: Api, view: CallView): Promise<void> {
  const { tool_call_id: id, approval } = view;
  const decisions = ['allow', 'deny'] as const;
  await Promise.all(
    decisions.map(async (decision) => {
      const body = { decision, digest: approval?.digest };
      const path = `/v1/tool_calls/${id}/decision`;
      const before = history.known(id);
      const response = await history.exchange('decide', id, () => orGone(api.post(path, body)));
      if (response === null || history.isExcused(response)) return;
      if (response.status === 200) {
        history.decided(id, decision);
        history.sawCall(response.body as unknown as CallView, before);
      } else if (response.status !== 409)
        history.violations.push(`the decision of ${id} got ${textOf(response)}`);
    }),
  );
}

async function cancel({ history }: AgentParts, api: Api, id: string): Promise<void> {
  const path = `/v1/tool_calls/${id}/cancel`;
  const before = history.known(id);
  const response = await history.exchange('cancel', id, () => orGone(api.post(path, {})));
  if (response === null || history.isExcused(response)) return;
  if (response.status === 200) history.sawCall(response.body as unknown as CallView, before);
  else if (response.status !== 409) history.violations.push(`cancelling ${id} got ${textOf(response)}`);
}
