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

/** Puts calls into the queue of their client, which polls them or receives them by push. Queues are unbounded. */
export class ClientQueueProvider implements Provider {
  readonly #queues: ClientQueues;
  readonly #inputGiven: (call: Call) => void;

  /** `inputGiven`: called when the caller has responded to an input request; the client polls for the response. */
  constructor(queues: ClientQueues, inputGiven: (call: Call) => void) {
    this.#queues = queues;
    this.#inputGiven = inputGiven;
  }

  /** The tool's timeout includes the wait in the queue, so that an offline client does not delay its callers. */
  reserve(tool: RegisteredTool, _request: ReservationRequest, now: number): Reservation {
    return new EmptyReservation([{ name: 'PENDING', deadlineAt: now + tool.timeoutMs }], this);
  }

  start(live: LiveCall): void {
    this.#queues.put(live);
  }

  cancel(live: LiveCall, reason: string | null): void {
    this.#queues.take(live, reason);
  }

  /** The client may still be working on the call: it may have been pushed before the crash, so it may have started. */
  recover(live: LiveCall): boolean {
    if (live.call.state.name !== 'APPROVAL_REQUIRED') live.pushed = true;
    return true;
  }

  /** The client works on over restarts, and reads the response when it is back. */
  awaitsInput(): boolean {
    return true;
  }

  inputGiven({ call }: LiveCall): void {
    this.#inputGiven(call);
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
    // Queued calls stay queued across a restart.
  }
}
