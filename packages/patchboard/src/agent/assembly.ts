import type { AgentHandle } from '../core/agent-handle.ts';
import type { InProcessCaller } from '../core/call/live-call.ts';
import type { Principal } from '../core/access/principal.ts';
import type { DecideOptions } from '../sdk/decide-options.ts';
import type { RespondInputOptions } from '../sdk/tool-call-input.ts';
import type { ToolCallRecord } from '../sdk/tool-call-record.ts';
import { Budget, narrower, type Spent } from './loop/budget.ts';
import { CallEventEmitter } from './events/call-event-emitter.ts';
import { EventLog } from './events/event-log.ts';
import { Journal } from './memory/journal.ts';
import type { Lineage, Origin } from './subagents/lineage.ts';
import { resolveOptions, type AgentOptions, type ResolvedOptions } from './options.ts';
import { SPENT, type CreationRecord, type ResumeState } from './memory/resume-state.ts';
import { RepeatGuard } from './loop/repeat-guard.ts';
import { ToolRequests, type PlannedRequest } from './loop/tool-requests.ts';
import { Transcript } from './memory/transcript.ts';

/** The parts of an agent. */
export interface AgentParts {
  readonly id: string;
  readonly creation: CreationRecord;
  readonly options: ResolvedOptions;
  readonly principal: Principal;
  readonly journal: Journal;
  readonly events: EventLog;
  readonly transcript: Transcript;
  readonly requests: ToolRequests;
  readonly callEvents: CallEventEmitter;
  readonly guard: RepeatGuard;
  readonly budget: Budget;
  readonly caller: InProcessCaller;
  /** Whether a listener, of this agent or of its parent, can respond to input requests. */
  readonly acceptsInput: () => boolean;
  /** Requests held back in manual mode, by call id, with details that the stored conversation does not have. */
  readonly held: Map<string, PlannedRequest>;
}

/** The agent under construction, for the parts that call it. */
export interface Owner {
  readonly handle: AgentHandle;
  decide(callId: string, decision: 'allow' | 'deny', options?: DecideOptions): Promise<ToolCallRecord>;
  respondInput(callId: string, response: RespondInputOptions): Promise<ToolCallRecord>;
  onWaiting(isWaiting: boolean): void;
}

export function assemble(given: AgentOptions, origin: Origin | null, owner: Owner): AgentParts {
  const lineage = origin?.kind === 'spawned' ? origin.lineage : null;
  const past = origin?.kind === 'resumed' ? origin.resumeState : null;
  const own = resolveOptions(given);
  const creation = past?.creation ?? creationOf(own, lineage);
  const options = withInherited(own, creation, origin);
  const { host } = options;
  const id = given.id ?? host.ids.next('run_');
  const journal: Journal = new Journal(host.store, id, past?.last ?? 0, (entry) => events.deliver(entry));
  const { clock, log, activeWork } = host;
  const decide: Owner['decide'] = (...args) => owner.decide(...args);
  const respondInput: Owner['respondInput'] = (...args) => owner.respondInput(...args);
  const listeners = { clock, log, activeWork, decide, respondInput };
  const events = new EventLog(listeners, journal, past?.lastEvent);
  const acceptsInput = (): boolean => lineage?.acceptsInput() ?? events.hasListener('input_required');
  const budget = lineage?.budget ?? ownBudget(options, creation, journal, past);
  const guard = new RepeatGuard();
  const caller: InProcessCaller = {
    hooks: [...options.hooks, guard.hooks],
    agent: owner.handle,
    keepsRefused: true,
    permissions: options.permissions,
    onInputRequired: (call) => calls.callEvents.inputRequired(call),
    onCustomEvent: ({ callId, toolName, eventType, data }) =>
      events.emit({ channel: 'monitor', type: 'tool_custom_event', callId, toolName, eventType, data }),
  };
  const common = { id, creation, options, principal: host.principal(creation.name), journal, events };
  const calls = withCalls(common, { caller, acceptsInput }, owner, past);
  return {
    ...common,
    ...calls,
    guard,
    budget,
    caller,
    acceptsInput,
    held: new Map(),
  };
}

function withCalls(
  common: Pick<AgentParts, 'id' | 'creation' | 'options' | 'principal' | 'journal' | 'events'>,
  { caller, acceptsInput }: Pick<AgentParts, 'caller' | 'acceptsInput'>,
  owner: Owner,
  past: ResumeState | null,
): Pick<AgentParts, 'transcript' | 'requests' | 'callEvents'> {
  const { id: runId, creation, options, principal, journal, events } = common;
  const { host, maxResultBytes, language, timeoutMs } = options;
  const watching = { host, journal, events, hooks: [...options.hooks, ...host.hooks], agent: owner.handle };
  const callEvents = new CallEventEmitter({
    host,
    events,
    maxResultBytes,
    onWaiting: (isWaiting) => owner.onWaiting(isWaiting),
    started: past?.started ?? [],
    ended: past?.ended ?? [],
    asked: past?.asked ?? [],
  });
  const results = { language, maxBytes: maxResultBytes };
  const { parentCallId } = creation;
  const requests = new ToolRequests({
    host,
    runId,
    principal,
    caller,
    parentCallId,
    timeoutMs,
    acceptsInput,
    callEvents,
    results,
  });
  return { transcript: new Transcript(watching, past?.messages), requests, callEvents };
}

function creationOf({ name, offers, maxDepth }: ResolvedOptions, lineage: Lineage | null): CreationRecord {
  if (lineage === null) {
    const nothing = { inherited: [], offers: [], budget: {}, keepers: [], maxDepth: null };
    return { name, depth: 0, parentCallId: null, ...nothing };
  }
  const { depth, parentCallId, permissions, budget } = lineage;
  return {
    name,
    depth,
    parentCallId,
    inherited: permissions,
    // Include the tools of its task: the parent granted them.
    offers: [...lineage.offers, ...offers],
    budget: budget.limits,
    keepers: budget.keepers,
    maxDepth,
  };
}

/** Restrictions and hooks of the parent come first, so that what it denies stays denied. */
function withInherited(
  own: ResolvedOptions,
  creation: CreationRecord,
  origin: Origin | null,
): ResolvedOptions {
  const lineage = origin?.kind === 'spawned' ? origin.lineage : null;
  return {
    ...own,
    permissions: [...creation.inherited, ...own.permissions],
    hooks: [...(lineage?.hooks ?? []), ...own.hooks],
    offers: lineage === null ? [...creation.offers, ...own.offers] : creation.offers,
    budget: narrower(creation.budget, own.budget),
    maxDepth: Math.min(creation.maxDepth ?? own.maxDepth, own.maxDepth),
  };
}

/** The budget of an agent that has no running parent. */
function ownBudget(
  { budget }: ResolvedOptions,
  creation: CreationRecord,
  journal: Journal,
  past: ResumeState | null,
): Budget {
  const record = (spent: Spent): void => journal.note({ kind: SPENT, body: JSON.stringify(spent) });
  const made = new Budget(budget, [...creation.keepers, journal.id], record);
  if (past !== null) made.restore(past.spent);
  return made;
}
