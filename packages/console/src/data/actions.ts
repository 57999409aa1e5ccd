import type { Decision, NewKey } from '@patchboard/client';
import type {
  BatchCallView,
  BatchView,
  CallView,
  DryRunView,
  InputResponseBody,
  LedgerVerdictView,
  MintedKeyView,
  PolicyView,
  ReloadUpstreamsView,
} from '@patchboard/wire';
import { untilEnded } from './call-end.ts';
import { client, currentSession } from './connection.ts';
import { queryClient } from './query-client.ts';

/** The user's actions. Each one invalidates the queries it affects. */

async function touch(...names: string[]): Promise<void> {
  await queryClient.invalidateQueries({ predicate: ({ queryKey }) => names.includes(String(queryKey[2])) });
}

export async function decideCall(id: string, decision: Decision): Promise<CallView> {
  const call = await client.value.decide(id, decision);
  // Not awaited: the page selects the next call while this one is still in the list.
  touch('approvals', 'grants', 'stats').catch(() => undefined);
  return call;
}

export async function respondInput(id: string, response: InputResponseBody): Promise<void> {
  await client.value.respondInput(id, response);
  await touch('call');
}

export async function cancelCall(id: string): Promise<void> {
  await client.value.cancel(id);
  await touch('call');
}

export async function cancelRun(id: string): Promise<void> {
  await client.value.runs.cancel(id);
}

/** Resolves to the id of the new call. It gets a new run: the old run belongs to its agent. */
export async function replayCall(id: string, args?: unknown): Promise<string> {
  const { runId } = client.value;
  return (await client.value.replay(id, args, { runId })).tool_call_id;
}

export async function dryRun(tool: string, args: unknown): Promise<DryRunView> {
  return await client.value.dryRun(tool, args);
}

export async function invoke(tool: string, args: unknown): Promise<string> {
  return (await client.value.invoke(tool, args)).tool_call_id;
}

export async function readCall(id: string): Promise<CallView> {
  return await client.value.get(id);
}

const REPLY_MS = 25_000;
let replies = 0;

/**
 * Runs every call of a reply and returns the results to send back. A call that takes longer than `REPLY_MS`
 * continues, and its result says so. `onCalls` is called with the calls as soon as they are made.
 */
export async function runReply(
  format: string,
  reply: string,
  onCalls: (calls: readonly BatchCallView[]) => void,
): Promise<BatchView> {
  replies += 1;
  const idempotencyKey = `${client.value.runId}/reply-${replies}`;
  const first = await client.value.runReply(format, reply, { idempotencyKey, waitSeconds: 1 });
  onCalls(first.calls);
  const open = first.calls.flatMap(({ tool_call_id: id, status }) =>
    id !== null && (status === 'PENDING' || status === 'RUNNING') ? [id] : [],
  );
  if (open.length === 0) return first;
  const timeout = AbortSignal.timeout(REPLY_MS);
  await Promise.all(open.map((id) => untilEnded(id, timeout)));
  // The same idempotency key returns the same calls, with their current results.
  const last = await client.value.runReply(format, reply, { idempotencyKey, waitSeconds: 1 });
  onCalls(last.calls);
  return last;
}

/** Whether the server accepts requests without a credential now. A key that is signed in has ended that. */
export async function isLocalMode(): Promise<boolean> {
  if (currentSession.value?.kind === 'key') return false;
  return (await client.value.stats())['local_mode'] === true;
}

export async function createKey(key: NewKey): Promise<MintedKeyView> {
  const minted = await client.value.keys.create(key);
  // The first key ends local mode, which the statistics show.
  await touch('keys', 'stats');
  return minted;
}

export async function revokeKey(id: string): Promise<void> {
  await client.value.keys.revoke(id);
  await touch('keys');
}

export async function revokeGrant(id: string): Promise<void> {
  await client.value.grants.revoke(id);
  await touch('grants');
}

export async function replacePolicy(document: unknown, version: number): Promise<PolicyView> {
  const policy = await client.value.policy.replace(document, { version });
  await touch('policy', 'tools');
  return policy;
}

export async function restartUpstream(name: string): Promise<void> {
  await client.value.restartUpstream(name);
  await touch('upstreams');
}

/** Accepts these versions of tools of the upstream. Resolves to the tools whose contract was accepted. */
export async function acceptContracts(
  name: string,
  versions: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const { accepted } = await client.value.acceptContracts(name, versions);
  await touch('upstreams', 'stats');
  return accepted;
}

export async function reloadUpstreams(): Promise<ReloadUpstreamsView> {
  const changes = await client.value.reloadUpstreams();
  await touch('upstreams', 'tools', 'stats');
  return changes;
}

export async function verifyLedger(): Promise<LedgerVerdictView> {
  return await client.value.ledgerVerify();
}
