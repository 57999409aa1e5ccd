import type { Call } from '../../../src/core/call/call.ts';
import { connectedDevices } from '../connected-devices.ts';
import type { Entry } from '../history.ts';
import { grouped, storedCalls, type Check } from './check.ts';

/**
 * At most one result of a call is accepted, and it is the call's result. No device holds a call, a reservation or a
 * connection when all is quiet.
 */
export const devices: Check = {
  name: 'devices',
  check: async ({ history, world, store }) => {
    const problems: string[] = [];
    const calls = new Map((await storedCalls(store)).map((call) => [call.id, call]));
    const sent = grouped(history.of('result sent'), ({ data }) => data['call']);
    for (const [id, acknowledged] of grouped(history.of('result acknowledged'), ({ data }) => data['call'])) {
      const call = calls.get(String(id));
      const accepted = acknowledged.filter(({ data }) => data['accepted'] === true);
      if (accepted.length === 0) continue;
      const first = accepted.filter(({ data }) => data['duplicate'] === false);
      if (first.length > 1) problems.push(`${first.length} results of ${String(id)} were accepted`);
      problems.push(...problemsOf(String(id), call, accepted, sent.get(id) ?? []));
    }
    // A process that was taken over keeps them until it ends.
    for (const { name, engine } of world.nodes)
      if (engine !== null && engine.devices.size > 0)
        problems.push(`${name} holds devices: ${engine.devices.size}`);
    for (const { process, device } of connectedDevices(world)) {
      if (device.reserved !== 0)
        problems.push(`${process.name} has reserved ${device.name} ${device.reserved} times`);
      if (device.calls.size !== 0) problems.push(`${process.name} holds calls of ${device.name}`);
    }
    return problems;
  },
};

/** The failures that a client reports. */
const REPORTED: ReadonlySet<string> = new Set(['tool_failed', 'input_unavailable']);

function problemsOf(
  id: string,
  call: Call | undefined,
  accepted: readonly Entry[],
  sent: readonly Entry[],
): string[] {
  if (call === undefined) return [`a result of ${id} was accepted, and the call is not stored`];
  const { state } = call;
  const requests = new Set(accepted.map(({ data }) => data['request']));
  // The acknowledgement of a device does not name the output that it is for.
  const named = accepted.flatMap(({ data }) => ('output' in data ? [data['output']] : []));
  const candidates = sent.filter(({ data }) => requests.has(data['request']));
  const outputs = named.length > 0 ? named : candidates.map(({ data }) => data['output']);
  if (state.name === 'COMPLETED' && outputs.includes(state.resultJson)) return [];
  const isFailure = state.name === 'FAILED' && REPORTED.has(state.error.code);
  if (isFailure && outputs.includes('error')) return [];
  return [`a result of ${id} was accepted, and the call is ${JSON.stringify(state)}`];
}
