import type { InputKind } from '@patchboard/wire';
import { topOf } from '../call/call-tree.ts';
import { isOpen } from '../call/call.ts';
import type { CallOrigin } from '../call/call-origin.ts';
import { logNames, notifyCaller, publishProgress } from '../call/caller-events.ts';
import { eventContent } from '../call/listed-content.ts';
import type { EventFeed } from '../ledger/events.ts';
import { messageOf } from '../failures.ts';
import { carriedState, responsesByKey } from '../call/input.ts';
import { acceptedKinds } from '../call/input-kinds.ts';
import { callSandbox } from './call-sandbox.ts';
import type { HeldInputs } from './held-inputs.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { Limits } from '../limits.ts';
import type { LiveCall } from '../call/live-call.ts';
import type { Clock, Log } from '../ports.ts';
import type { Redactor } from '../call/redaction.ts';
import type { ServerTool, ToolContext } from '../tools/server-tool.ts';
import { traceparentOf } from '../call/trace-context.ts';
import { utf8Bytes } from '../json/utf8-bytes.ts';
import type { Workspaces } from '../workspaces.ts';

export interface CallContextParts {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: Log;
  readonly redactor: Redactor;
  readonly workspaces: Workspaces;
  readonly lifecycle: Pick<Lifecycle, 'find'>;
  readonly feed: Pick<EventFeed, 'progress' | 'custom'>;
  readonly heldInputs: Pick<HeldInputs, 'request'>;
}

/** Creates the context that an in-process tool gets besides its arguments. */
export function contextOf(
  parts: CallContextParts,
  live: LiveCall,
  attempt: number,
  { cacheTtlMs, readSchema }: Pick<ServerTool, 'cacheTtlMs' | 'readSchema'>,
): ToolContext {
  const { origin } = live.call;
  const shown = cacheTtlMs === undefined ? origin : siteOnly(origin);
  return new CallContext(parts, live, attempt, shown, readSchema);
}

/** Most tools use little of `ToolContext`, so the expensive members are created on first access. */
class CallContext implements ToolContext {
  readonly callId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly tenant: string;
  readonly origin: CallOrigin | null;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly traceparent: string | null;
  readonly agent: ToolContext['agent'];
  readonly #parts: CallContextParts;
  readonly #live: LiveCall;
  readonly #readSchema: ServerTool['readSchema'];
  #log: Log | null = null;
  #sink: ToolEventSink | null = null;

  constructor(
    parts: CallContextParts,
    live: LiveCall,
    attempt: number,
    origin: CallOrigin | null,
    readSchema: ServerTool['readSchema'],
  ) {
    const { call } = live;
    this.#parts = parts;
    this.#live = live;
    this.#readSchema = readSchema;
    this.callId = call.id;
    this.runId = call.runId;
    this.agentId = call.agentId;
    this.tenant = call.tenant;
    this.origin = origin;
    this.attempt = attempt;
    this.idempotencyKey = call.id;
    this.traceparent = traceparentOf(call);
    this.agent = live.caller.agent;
  }

  get signal(): AbortSignal {
    return this.#live.stop.signal;
  }

  get deadlineAt(): number {
    const { state } = this.#live.call;
    return 'deadlineAt' in state ? state.deadlineAt : this.#parts.clock.now();
  }

  get acceptsInput(): boolean {
    return this.acceptsInputKinds.includes('form');
  }

  get acceptsInputKinds(): readonly InputKind[] {
    return acceptedKinds(this.#live.call.acceptsInput);
  }

  get inputs(): ToolContext['inputs'] {
    return responsesByKey(this.#live.call);
  }

  get carried(): unknown {
    return carriedState(this.#live.call);
  }

  get log(): Log {
    return (this.#log ??= boundLog(this.#parts, this.#live));
  }

  get sandbox(): ToolContext['sandbox'] {
    const { workspaces, lifecycle } = this.#parts;
    return callSandbox(workspaces.of(topOf(lifecycle, this.#live.call)).sandbox, this.signal);
  }

  get services(): ToolContext['services'] {
    return this.#parts.workspaces.of(this.#live.call).services;
  }

  // Fields, not methods: tools destructure them from the context.
  readonly progress = (data: unknown): void => {
    const event = this.#eventSink().prepare('progress', data);
    if (event !== null) publishProgress(this.#parts, this.#live, event.data);
  };

  readonly requestInput: ToolContext['requestInput'] = (request) => {
    const asked = this.#parts.heldInputs.request(this.#live, request, this.#readSchema);
    // A tool that was stopped while it did something else does not await it: the rejection must not end the process.
    asked.catch(() => {});
    // The reader of the schema returns content of the type that the schema declares.
    return asked as Promise<never>;
  };

  readonly emit = (eventType: string, data: unknown = null): void => {
    const event = this.#eventSink().prepare(eventType, data);
    if (event === null) return;
    const { clock, feed, log } = this.#parts;
    const at = clock.now();
    const { id: callId, toolName, runId } = this.#live.call;
    feed.custom(this.#live.call, at, eventType, event.data);
    notifyCaller(log, this.#live, eventType, (caller) =>
      caller.onCustomEvent?.({ callId, toolName, runId, eventType, data: event.data, at }),
    );
  };

  #eventSink(): ToolEventSink {
    return (this.#sink ??= new ToolEventSink(this.#parts, this.#live));
  }
}

/** Validates and copies the events that a tool emits. An invalid one is logged and dropped; it never fails the call. */
class ToolEventSink {
  readonly #parts: CallContextParts;
  readonly #live: LiveCall;
  #hasLoggedLate = false;

  constructor(parts: CallContextParts, live: LiveCall) {
    this.#parts = parts;
    this.#live = live;
  }

  prepare(eventType: string, data: unknown): { readonly data: unknown } | null {
    if (this.#isOver()) return this.#late(eventType);
    if (typeof eventType !== 'string' || eventType === '')
      return this.#drop(String(eventType), 'the event type must be a non-empty string');
    const { resultBytes } = this.#parts.limits;
    try {
      // A copy, so that later changes by the tool do not change the event.
      const json = JSON.stringify(data) ?? 'null';
      if (utf8Bytes(json) > resultBytes) return this.#drop(eventType, `larger than ${resultBytes} bytes`);
      return { data: eventContent(this.#parts.redactor.value(JSON.parse(json))) };
    } catch (error) {
      return this.#drop(eventType, messageOf(error));
    }
  }

  #isOver(): boolean {
    return this.#live.stop.reason !== null || !isOpen(this.#live.call);
  }

  /** Logs only the first late event: a tool that ignores its end must not fill the log. */
  #late(eventType: string): null {
    if (this.#hasLoggedLate) return null;
    this.#hasLoggedLate = true;
    this.#parts.log.warn('call.event_after_end', { ...logNames(this.#live), event_type: eventType });
    return null;
  }

  #drop(eventType: string, problem: string): null {
    this.#parts.log.warn('call.event_dropped', { ...logNames(this.#live), event_type: eventType, problem });
    return null;
  }
}

function boundLog({ log, redactor }: CallContextParts, live: LiveCall): Log {
  const names = logNames(live);
  // The call's own fields come last, so that a tool cannot replace them.
  const fields = (given: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
    ...(redactor.value(given) as Record<string, unknown>),
    ...names,
  });
  return {
    info: (event, given) => log.info(event, fields(given)),
    warn: (event, given) => log.warn(event, fields(given)),
    error: (event, given) => log.error(event, fields(given)),
  };
}

/** A cached result may be returned to other users of the site, so it must not depend on user, session or program. */
function siteOnly(origin: CallOrigin | null): CallOrigin | null {
  return origin?.siteId === undefined ? null : { siteId: origin.siteId };
}
