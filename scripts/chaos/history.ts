import { isTerminal, type CallView } from '@patchboard/wire';
import type { HttpResponse } from './http.ts';

export type RequestKind =
  'quick' | 'slow' | 'effect' | 'keyed' | 'remote' | 'forgotten' | 'ask' | 'askReturned';

/** One request of an agent and its responses. */
export interface Invocation {
  readonly n: number;
  readonly kind: RequestKind;
  /** Ids in 2xx responses; several only if a key was sent again. */
  readonly acknowledged: Set<string>;
  sent: number;
  /** Responses that say that nothing was recorded. */
  refused: number;
}

/** One request and its response, with their times. */
export interface Exchange {
  readonly action: 'invoke' | 'read' | 'input' | 'cancel' | 'submit';
  /** The number of the request, or the id of the call. */
  readonly subject: string;
  /** Epoch milliseconds, with fractions. */
  readonly sentAt: number;
  /** Null, as is the status, if the connection was lost. */
  answeredAt: number | null;
  status: number | null;
}

/** A client's submissions for one call and their responses. */
export interface Submissions {
  /** JSON of results that got 200. */
  readonly accepted: Set<string>;
  repeated: number;
  conflicts: number;
}

/** The responses to one input request that got 200. */
export type GivenInputs = Set<number>;

/** Uptime of a server, epoch milliseconds. */
export interface Life {
  readonly from: number;
  until: number;
}

/** All requests and responses that agents and clients observed while the server was killed repeatedly. */
export class History {
  /** Whether 408 and 503 are allowed, because the store is away, or the server stands still, at times. */
  readonly isStoreMortal: boolean;
  readonly exchanges: Exchange[] = [];
  readonly invocations: Map<number, Invocation> = new Map();
  readonly submissions: Map<string, Submissions> = new Map();
  /** By call and input request, joined by a space. */
  readonly inputs: Map<string, GivenInputs> = new Map();
  /** The first final state observed for each call. */
  readonly endings: Map<string, string> = new Map();
  readonly lives: Life[] = [];
  readonly violations: string[] = [];

  constructor(isStoreMortal = false) {
    this.isStoreMortal = isStoreMortal;
  }

  /** Records a request and its response. */
  async exchange<R extends HttpResponse | null>(
    action: Exchange['action'],
    subject: string | number,
    send: () => Promise<R>,
  ): Promise<R> {
    const exchange: Exchange = {
      action,
      subject: String(subject),
      sentAt: now(),
      answeredAt: null,
      status: null,
    };
    this.exchanges.push(exchange);
    const response = await send();
    if (response === null) return response;
    exchange.answeredAt = now();
    exchange.status = response.status;
    return response;
  }

  /** Whether the server refuses because its store is away, or because it just stood still, and may do so. */
  isExcused(response: HttpResponse): boolean {
    if (!this.isStoreMortal) return false;
    // Requests that were sent to a process while it stood still have arrived late for it.
    const isLate = response.status === 408 || response.body['code'] === 'overloaded';
    return isLate || saysNothingRecorded(response);
  }

  /** Responses by status, to verify that there was load. */
  responses(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { status } of this.exchanges) {
      if (status !== null) counts[status] = (counts[status] ?? 0) + 1;
    }
    return counts;
  }

  acknowledged(): string[] {
    return [...this.invocations.values()].flatMap((invocation) => [...invocation.acknowledged]);
  }

  /** A final state must not change: every later read must return the same. */
  sawCall(view: CallView): void {
    if (!isTerminal(view.state)) {
      const ended = this.endings.get(view.tool_call_id);
      if (ended !== undefined)
        this.violations.push(`${view.tool_call_id} is ${view.state} again after ${ended}`);
      return;
    }
    const ending = JSON.stringify([view.state, view.result, view.error, view.timeline]);
    const before = this.endings.get(view.tool_call_id) ?? ending;
    this.endings.set(view.tool_call_id, before);
    if (before !== ending) this.violations.push(`${view.tool_call_id} ended as ${before}, then as ${ending}`);
  }

  inputTaken(callId: string, requestId: string, content: number): void {
    const key = `${callId} ${requestId}`;
    this.inputs.set(key, (this.inputs.get(key) ?? new Set()).add(content));
  }

  submissionsOf(callId: string): Submissions {
    const known = this.submissions.get(callId) ?? { accepted: new Set(), repeated: 0, conflicts: 0 };
    this.submissions.set(callId, known);
    return known;
  }

  upMs(from: number, until: number): number {
    return upMs(this.lives, from, until);
  }
}

export function saysNothingRecorded({ status, body }: HttpResponse): boolean {
  return status === 503 && body['code'] === 'storage_unavailable';
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Uptime between two moments. */
export function upMs(lives: readonly Life[], from: number, until: number): number {
  let sum = 0;
  for (const life of lives) sum += Math.max(0, Math.min(until, life.until) - Math.max(from, life.from));
  return sum;
}
