import type { AgentHandle } from '../core/agent-handle.ts';
import type { InProcessCaller } from '../core/call/live-call.ts';
import type { Principal } from '../core/access/principal.ts';
import type { DecideOptions } from '../sdk/decide-options.ts';
import type { ToolCallRecord } from '../sdk/tool-call-record.ts';
import { Budget, narrower, type Spent } from './loop/budget.ts';
import { CallEventEmitter } from './events/call-event-emitter.ts';
import { EventLog } from './events/event-log.ts';
import { Journal } from './memory/journal.ts';
import type { Lineage, Origin } from './subagents/lineage.ts';
import { resolveOptions, type AgentOptions, type ResolvedOptions } from './options.ts';
import { SPENT, type Birth, type ResumeState } from './memory/resume-state.ts';
import { RepeatGuard } from './loop/repeat-guard.ts';
import { ToolRequests, type PlannedRequest } from './loop/tool-requests.ts';
import { Transcript } from './memory/transcript.ts';

/** Everything an agent is made of. */
export interface AgentParts {
  readonly id: string;
  readonly birth: Birth;
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
  /** What is known of requests that wait, by the id of their call, beyond what stands in the conversation. */
  readonly held: Map<string, PlannedRequest>;
}

/** The agent that is being made, for those of its parts that call it. */
export interface Owner {
  readonly handle: AgentHandle;
  decide(callId: string, decision: 'allow' | 'deny', options?: DecideOptions): Promise<ToolCallRecord>;
  onWaiting(isWaiting: boolean): void;
}

export function assemble(given: AgentOptions, origin: Origin | null, owner: Owner): AgentParts {
  const lineage = origin?.kind === 'spawned' ? origin.lineage : null;
  const past = origin?.kind === 'resumed' ? origin.resumeState : null;
  const own = resolveOptions(given);
  const birth = past?.birth ?? birthOf(own, lineage);
  const options = withInherited(own, birth, origin);
  const { host } = options;
  const id = given.id ?? host.ids.next('run_');
  const journal: Journal = new Journal(host.store, id, past?.last ?? 0, (entry) => events.tell(entry));
  const { clock, log, activeWork } = host;
  const decide: Owner['decide'] = (...answer) => owner.decide(...answer);
  const events = new EventLog({ clock, log, activeWork, decide }, journal, past?.lastEvent);
  const budget = lineage?.budget ?? ownBudget(options, birth, journal, past);
  const guard = new RepeatGuard();
  const caller: InProcessCaller = {
    hooks: [...options.hooks, guard.hooks],
    agent: owner.handle,
    keepsRefused: true,
    permissions: options.permissions,
    onCustomEvent: ({ callId, toolName, eventType, data }) =>
      events.emit({ channel: 'monitor', type: 'tool_custom_event', callId, toolName, eventType, data }),
  };
  const common = { id, birth, options, principal: host.principal(birth.name), journal, events };
  return {
    ...common,
    ...withCalls(common, caller, owner, past),
    guard,
    budget,
    caller,
    held: new Map(),
  };
}

function withCalls(
  common: Pick<AgentParts, 'id' | 'birth' | 'options' | 'principal' | 'journal' | 'events'>,
  caller: InProcessCaller,
  owner: Owner,
  past: ResumeState | null,
): Pick<AgentParts, 'transcript' | 'requests' | 'callEvents'> {
  const { id: runId, birth, options, principal, journal, events } = common;
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
  const { parentCallId } = birth;
  const requests = new ToolRequests({
    host,
    runId,
    principal,
    caller,
    parentCallId,
    timeoutMs,
    callEvents,
    results,
  });
  return { transcript: new Transcript(watching, past?.messages), requests, callEvents };
}

function birthOf({ name, offers, maxDepth }: ResolvedOptions, lineage: Lineage | null): Birth {
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
    // Those of its task too: they are what it was given, not what it asked for.
    offers: [...lineage.offers, ...offers],
    budget: budget.limits,
    keepers: budget.keepers,
    maxDepth,
  };
}

/** Those above come first: what they deny stays denied, and their hooks are asked before its own. */
function withInherited(own: ResolvedOptions, birth: Birth, origin: Origin | null): ResolvedOptions {
  const lineage = origin?.kind === 'spawned' ? origin.lineage : null;
  return {
    ...own,
    permissions: [...birth.inherited, ...own.permissions],
    hooks: [...(lineage?.hooks ?? []), ...own.hooks],
    offers: lineage === null ? [...birth.offers, ...own.offers] : birth.offers,
    budget: narrower(birth.budget, own.budget),
    maxDepth: Math.min(birth.maxDepth ?? own.maxDepth, own.maxDepth),
  };
}

/** Of an agent that none above it pays for any more. */
function ownBudget(
  { budget }: ResolvedOptions,
  birth: Birth,
  journal: Journal,
  past: ResumeState | null,
): Budget {
  const record = (spent: Spent): void => journal.note({ kind: SPENT, body: JSON.stringify(spent) });
  const made = new Budget(budget, [...birth.keepers, journal.id], record);
  if (past !== null) made.restore(past.spent);
  return made;
}
