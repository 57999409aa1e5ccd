import type { SubTask, SubTaskReply } from '../../core/agent-handle.ts';
import { isOpen } from '../../core/call/call.ts';
import { failure, ToolFailure } from '../../core/failures.ts';
import { text } from '../../sdk/shape.ts';
import { AgentError, check } from '../agent-error.ts';
import type { AgentReply } from '../loop/agent-loop.ts';
import type { AgentParts } from '../assembly.ts';
import type { Lineage } from './lineage.ts';
import { SUB_TASK } from '../options-shape.ts';
import type { AgentOptions } from '../options.ts';

/** What is used of an agent that was made for a task. */
export interface SubAgent {
  readonly id: string;
  send(text: string, options: { readonly signal?: AbortSignal }): Promise<AgentReply>;
}

export interface SubAgentsParts {
  readonly agent: AgentParts;
  /** As the agent itself was made. */
  readonly given: AgentOptions;
  /** Of the agent itself; null: there is none above it. */
  readonly lineage: Lineage | null;
  readonly make: (options: AgentOptions, lineage: Lineage) => SubAgent;
}

/** The agents below one agent. */
export class SubAgents {
  readonly #parts: SubAgentsParts;
  /** Runs of theirs, and of those below them. */
  readonly #family: Set<string> = new Set();

  constructor(parts: SubAgentsParts) {
    this.#parts = parts;
  }

  has(runId: string): boolean {
    return this.#family.has(runId);
  }

  /** Made for one task, which it is sent at once, and gone with the answer. */
  async spawn(task: SubTask): Promise<SubTaskReply> {
    const { options, birth, events } = this.#parts.agent;
    check('spawn', SUB_TASK(task, '') ?? text(task.prompt, 'prompt') ?? text(task.callId, 'callId'));
    checkDepth(birth.depth + 1, options.maxDepth);
    await this.#checkUnderWay(task.callId);
    const { callId, signal } = task;
    const sub = this.#parts.make(this.#optionsFor(task), this.#lineageFor(callId));
    const named = { channel: 'monitor', subAgentId: sub.id, callId } as const;
    events.emit({ ...named, type: 'sub_agent_started' });
    try {
      const { text, reason, calls } = await sub.send(task.prompt, signal === undefined ? {} : { signal });
      return { agentId: sub.id, text, reason, calls: calls.length };
    } finally {
      events.emit({ ...named, type: 'sub_agent_ended' });
    }
  }

  /** A task is part of a call: it is recorded under it, and works where it works. */
  async #checkUnderWay(callId: string): Promise<void> {
    const { id, options, principal } = this.#parts.agent;
    const call = await options.host.engine.calls.find(principal, callId);
    if (call !== undefined && call.runId === id && isOpen(call)) return;
    const message = `spawn: callId must name a call of this agent that is under way, as context.callId does: ${callId}`;
    throw new AgentError(failure('call_not_found', message));
  }

  /** Its own, but for what comes down the lineage and what the task says. */
  #optionsFor({ system, maxIterations, tools }: SubTask): AgentOptions {
    const { given, agent } = this.#parts;
    const { id: _id, name: _name, permission: _permission, hooks: _hooks, tools: _tools, ...rest } = given;
    return {
      ...rest,
      name: agent.birth.name,
      ...(system === undefined ? {} : { system }),
      ...(maxIterations === undefined ? {} : { maxIterations }),
      ...(tools === undefined ? {} : { tools }),
    };
  }

  #lineageFor(parentCallId: string): Lineage {
    const { options, birth, budget, events } = this.#parts.agent;
    const { permissions, hooks, offers } = options;
    return {
      parentCallId,
      depth: birth.depth + 1,
      permissions,
      hooks,
      offers,
      budget,
      passOn: (event, agentId) => events.emit(event, agentId),
      adopt: (agentId) => {
        this.#family.add(agentId);
        this.#parts.lineage?.adopt(agentId);
      },
    };
  }
}

function checkDepth(depth: number, maxDepth: number): void {
  if (depth <= maxDepth) return;
  const message = `agents may be nested ${maxDepth} deep, and this would be one more`;
  throw new ToolFailure(failure('permission_denied', message));
}
