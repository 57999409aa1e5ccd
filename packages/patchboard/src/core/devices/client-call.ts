import { reason } from '@patchboard/wire';
import type { Principal } from '../access/principal.ts';
import { attemptsOf, isOpen, runsInProcess, type Call, type CallState } from '../call/call.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { LiveCall } from '../call/live-call.ts';
import { denied, failure, type Failure } from '../failures.ts';
import type { Store } from '../ports.ts';
import type { Device } from './device.ts';
import { attemptToken, type ParsedRequestId } from './request-id.ts';

/** A client's report that was not accepted. `call`: as it is now, if the client may see it. */
export interface RefusedReport {
  readonly ok: false;
  readonly failure: Failure;
  readonly call: Call | null;
}

export interface ClientCallParts {
  readonly store: Store;
  readonly lifecycle: Lifecycle;
}

/** Returns the live call, or a borrowed one, if this client may report on it now. `token` null: whichever attempt is current. */
export async function openClientCall(
  { lifecycle, store }: ClientCallParts,
  principal: Principal,
  id: string,
  token: string | null,
): Promise<LiveCall | RefusedReport> {
  const row = lifecycle.find(id)?.call ?? (await store.findCall(id));
  if (row === undefined || row.tenant !== principal.tenant) {
    return refuse(failure('call_not_found', reason('call_unknown', { id })), null);
  }
  const live = lifecycle.reach(row);
  const call = live?.call ?? row;
  if (runsInProcess(call))
    return refuse(failure('conflict', reason('call_runs_on_server', { tool: call.toolName })), call);
  if (principal.clientId !== null && principal.clientId !== call.clientId) {
    return refuse(failure('permission_denied', denied(reason('call_of_other_client'))), null);
  }
  if (live === undefined || !isOpen(call)) {
    return refuse(failure('conflict', reason('call_ended', { state: call.state.name })), call);
  }
  if (call.state.name === 'APPROVAL_REQUIRED') {
    return refuse(failure('conflict', reason('call_waits_for_approval')), call);
  }
  if (token !== null && token !== attemptToken(call)) {
    return refuse(failure('conflict', reason('call_token_stale')), call);
  }
  return live;
}

export function refuse(why: Failure, call: Call | null): RefusedReport {
  return { ok: false, failure: why, call };
}

/** Whether a client or device works on the call. It does so also while an input request is open. */
export function hasBegun({ state }: Call): boolean {
  return state.name === 'EXECUTING' || state.name === 'INPUT_REQUIRED';
}

/** Whether `request` is the current attempt of the call, and its client is that of the device. */
export function worksOn(
  { tenant, clientId }: Pick<Device, 'tenant' | 'clientId'>,
  call: Call,
  request: ParsedRequestId,
): boolean {
  const isOwn = call.tenant === tenant && call.clientId === clientId;
  return isOwn && hasBegun(call) && attemptToken(call) === request.attemptToken;
}

/** The state of a call that its client begins without a connected device. `program`: null if it does not name itself. */
export function begun(call: Call, program: string | null): CallState {
  if (!isOpen(call)) throw new Error(`call ${call.id} has ended`);
  const attempt = Math.max(1, attemptsOf(call));
  const { deadlineAt } = call.state;
  return {
    name: 'EXECUTING',
    deadlineAt,
    attempt,
    cause: null,
    ...(program === null ? {} : { program }),
  };
}
