import { isTerminal, type CallView } from '@patchboard/wire';
import type { HttpResponse } from './http.ts';

export type RequestKind =
  | 'quick'
  | 'slow'
  | 'effect'
  | 'keyed'
  | 'remote'
  | 'forgotten'
  | 'ask'
  | 'askReturned'
  | 'approve'
  | 'device';

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
  readonly action: 'invoke' | 'read' | 'input' | 'cancel' | 'decide' | 'submit';
  /** The number of the request, or the id of the call. */
  readonly subject: string;
  /** Epoch milliseconds, with fractions. */
  readonly sentAt: number;
  /** Null, as is the status, if the connection was lost. */
  answeredAt: number | null;
  status: number | null;
}

/** What earlier responses have shown of a call. */
export interface KnownCall {
  /** The number of its state changes. */
  readonly changes: number;
  readonly ending: string | undefined;
}

/** A read that waited for the end of a call, and got a response. */
export interface Wait {
  readonly callId: string;
  /** Undefined if it is not known. */
  readonly node: number | undefined;
  /** Epoch milliseconds, as is the next one. */
  readonly sentAt: number;
  readonly answeredAt: number;
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
  /** The most state changes that a response has shown, by call. */
  readonly #changes: Map<string, number> = new Map();
  /** The decisions that got 200, by call. */
  readonly decisions: Map<string, Set<'allow' | 'deny'>> = new Map();
  readonly waits: Wait[] = [];
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

  /** To be read before a request is sent: its response shows at least this. */
  known(callId: string): KnownCall {
    return { changes: this.#changes.get(callId) ?? 0, ending: this.endings.get(callId) };
  }

  /** A call never goes back, and a final state does not change: not for reads that were sent later, at any server. */
  sawCall(view: CallView, before: KnownCall = this.known(view.tool_call_id)): void {
    const { tool_call_id: id, state, timeline } = view;
    if (timeline.length < before.changes)
      this.violations.push(
        `${id} is ${state} after ${timeline.length} changes; ${before.changes} were read before`,
      );
    this.#changes.set(id, Math.max(this.#changes.get(id) ?? 0, timeline.length));
    if (!isTerminal(state)) {
      if (before.ending !== undefined) this.violations.push(`${id} is ${state} again after ${before.ending}`);
      return;
    }
    const ending = JSON.stringify([state, view.result, view.error, timeline]);
    const first = this.endings.get(id) ?? ending;
    this.endings.set(id, first);
    if (first !== ending) this.violations.push(`${id} ended as ${first}, then as ${ending}`);
  }

  decided(callId: string, decision: 'allow' | 'deny'): void {
    this.decisions.set(callId, (this.decisions.get(callId) ?? new Set()).add(decision));
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

/** Epoch milliseconds, with fractions. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Uptime between two moments. */
export function upMs(lives: readonly Life[], from: number, until: number): number {
  let sum = 0;
  for (const life of lives) sum += Math.max(0, Math.min(until, life.until) - Math.max(from, life.from));
  return sum;
}
