import { isTerminal, type CallView } from '@patchboard/wire';

export type RequestKind =
  'quick' | 'slow' | 'effect' | 'keyed' | 'remote' | 'forgotten' | 'ask' | 'askReturned';

/** One request of an agent and its responses. */
export interface Invocation {
  readonly n: number;
  readonly kind: RequestKind;
  /** Ids in 2xx responses; several only if a key was sent again. */
  readonly acknowledged: Set<string>;
  sent: number;
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

/** All requests and responses observed while the server was killed repeatedly. */
export class History {
  readonly invocations: Map<number, Invocation> = new Map();
  readonly submissions: Map<string, Submissions> = new Map();
  /** By call and input request, joined by a space. */
  readonly inputs: Map<string, GivenInputs> = new Map();
  /** The first final state observed for each call. */
  readonly endings: Map<string, string> = new Map();
  readonly lives: Life[] = [];
  readonly violations: string[] = [];
  /** Responses by status, to verify that there was load. */
  readonly responses: Map<number, number> = new Map();

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

  sawResponse(status: number): void {
    this.responses.set(status, (this.responses.get(status) ?? 0) + 1);
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

/** Uptime between two moments. */
export function upMs(lives: readonly Life[], from: number, until: number): number {
  let sum = 0;
  for (const life of lives) sum += Math.max(0, Math.min(until, life.until) - Math.max(from, life.from));
  return sum;
}
