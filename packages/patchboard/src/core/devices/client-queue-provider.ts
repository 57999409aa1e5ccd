import { reason } from '@patchboard/wire';
import type { Call } from '../call/call.ts';
import type { LiveCall } from '../call/live-call.ts';
import { failure, type Failure } from '../failures.ts';
import {
  EmptyReservation,
  type Provider,
  type Reservation,
  type ReservationRequest,
} from '../providers/provider.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { ClientQueues } from './client-queues.ts';

/** Leaves calls in the queue of their client, which fetches them or has them pushed. A queue has room for every call. */
export class ClientQueueProvider implements Provider {
  readonly #queues: ClientQueues;

  constructor(queues: ClientQueues) {
    this.#queues = queues;
  }

  /** The time of the tool covers the wait: a client that is away must not keep its callers for longer. */
  reserve(tool: RegisteredTool, _request: ReservationRequest, now: number): Reservation {
    return new EmptyReservation([{ name: 'PENDING', deadlineAt: now + tool.timeoutMs }], this);
  }

  start(live: LiveCall): void {
    this.#queues.put(live);
  }

  cancel(live: LiveCall, reason: string | null): void {
    this.#queues.take(live, reason);
  }

  /** The client may still work on it. It may have been pushed before the crash, so its start cannot be ruled out. */
  recover(live: LiveCall): boolean {
    if (live.call.state.name !== 'APPROVAL_REQUIRED') live.pushed = true;
    return true;
  }

  isOnline({ clientId }: RegisteredTool, tenant: string): boolean {
    return clientId !== null && this.#queues.isOnline(tenant, clientId);
  }

  waitMs({ timeoutMs }: Call): number {
    return timeoutMs;
  }

  targetProblem({ name, clientId }: RegisteredTool, target: string): Failure | null {
    return target === clientId
      ? null
      : failure('provider_offline', reason('device_not_offering', { target, tool: name }));
  }

  stop(): void {
    // What waits in a queue goes on waiting, over the restart too.
  }
}
