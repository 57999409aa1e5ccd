import type { Call } from '../../../src/core/call/call.ts';
import type { Entry } from '../history.ts';
import { EPOCH } from '../simulated-clock.ts';
import { grouped, storedCalls, type Check, type Evidence } from './check.ts';
import { enteredAt, latenessIn, type Lateness } from './undisturbed.ts';

/** Of the calls of a client, when it connects. */
const READS = 10;

/**
 * A queued call whose client has a stream at some node is delivered over it soon. While that stream is open, no stream at
 * another node that was open before gets the call too.
 */
export const deliveries: Check = {
  name: 'deliveries',
  check: async (evidence) => {
    const lateness = latenessIn(evidence.world);
    if (lateness === null) return [];
    return [...(await repeated(evidence, lateness)), ...(await undelivered(evidence, lateness))];
  },
};

async function repeated({ world, history, store }: Evidence, lateness: Lateness): Promise<string[]> {
  const ends = timesOf(history.of('stream ends'));
  const begins = timesOf(history.of('stream begins'));
  const calls = new Map((await storedCalls(store)).map((call) => [call.id, call]));
  // A new connection gets every call that is not acknowledged.
  const isNew = ({ who, data }: Entry): boolean => {
    const createdAt = (calls.get(String(data['call']))?.createdAt ?? 0) - EPOCH;
    return (begins.get(who) ?? Infinity) > createdAt - READS * world.profile.storeDelayMs;
  };
  const problems: string[] = [];
  for (const [call, all] of grouped(history.of('delivered'), ({ data }) => String(data['call'])))
    for (const [index, next] of all.entries()) {
      const before = all
        .slice(0, index)
        .find((one) => nodeOf(one) !== nodeOf(next) && (ends.get(one.who) ?? Infinity) > next.at);
      if (before === undefined || isNew(next) || !lateness.isCalm(before.at, next.at)) continue;
      problems.push(
        `${call} was delivered by ${nodeOf(next)} ${Math.round(next.at - before.at)} ms after ${nodeOf(before)}`,
      );
    }
  return problems;
}

async function undelivered({ world, history, store }: Evidence, lateness: Lateness): Promise<string[]> {
  // What a client polls is not sent over its streams.
  if (world.plan.steps.some(({ do: word }) => word === 'work')) return [];
  const ends = timesOf(history.of('stream ends'));
  const delivered = new Set(history.of('delivered').map(({ data }) => data['call']));
  const waiting = (await storedCalls(store)).filter(
    ({ clientId, id }) => clientId === 'desk' && !delivered.has(id),
  );
  return history.of('stream begins').flatMap(({ who, at }) =>
    waiting.flatMap((call) => {
      const queued = queuedFrom(call);
      const from = Math.max(at, queued.from);
      const to = Math.min(ends.get(who) ?? Infinity, queued.to);
      if (to - from <= lateness.bound(from, to)) return [];
      return [`${call.id} was not delivered within ${Math.round(to - from)} ms, and ${who} was open`];
    }),
  );
}

/** While the call waits for its client. */
function queuedFrom(call: Call): { readonly from: number; readonly to: number } {
  const names = call.timeline.map(({ state }) => state);
  const index = Math.max(names.indexOf('PENDING'), names.indexOf('APPROVED'));
  const [state, next] = [names[index], names[index + 1]];
  const from = state === undefined ? null : enteredAt(call, state);
  const to = next === undefined ? null : enteredAt(call, next);
  return { from: from ?? Infinity, to: to ?? -Infinity };
}

function timesOf(entries: readonly Entry[]): ReadonlyMap<string, number> {
  return new Map(entries.map(({ who, at }) => [who, at]));
}

function nodeOf({ data }: Entry): string {
  return String(data['node']);
}
