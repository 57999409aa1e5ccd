import { reason } from '@patchboard/wire';
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

/** The part of a sub-agent that is used here. */
interface SubAgent {
  readonly id: string;
  send(text: string, options: { readonly signal?: AbortSignal }): Promise<AgentReply>;
}

export interface SubAgentsParts {
  readonly agent: AgentParts;
  /** The options of the parent. */
  readonly given: AgentOptions;
  /** The lineage of the parent itself; null if it is not a sub-agent. */
  readonly lineage: Lineage | null;
  readonly make: (options: AgentOptions, lineage: Lineage) => SubAgent;
}

/** The sub-agents of one agent. */
export class SubAgents {
  readonly #parts: SubAgentsParts;
  /** Run ids of all descendants. */
  readonly #descendants: Set<string> = new Set();

  constructor(parts: SubAgentsParts) {
    this.#parts = parts;
  }

  has(runId: string): boolean {
    return this.#descendants.has(runId);
  }

  /** Creates a sub-agent, sends it the task and returns its reply. */
  async spawn(task: SubTask): Promise<SubTaskReply> {
    const { options, creation, events } = this.#parts.agent;
    check('spawn', SUB_TASK(task, '') ?? text(task.prompt, 'prompt') ?? text(task.callId, 'callId'));
    checkDepth(creation.depth + 1, options.maxDepth);
    await this.#checkOpen(task.callId);
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

  /** A task must belong to an open call of this agent, under which its calls are recorded. */
  async #checkOpen(callId: string): Promise<void> {
    const { id, options, principal } = this.#parts.agent;
    const call = await options.host.engine.calls.find(principal, callId);
    if (call !== undefined && call.runId === id && isOpen(call)) return;
    throw new AgentError(failure('call_not_found', reason('spawn_call_not_open', { id: callId })));
  }

  /** The options of the parent, without those inherited through the lineage, plus those of the task. */
  #optionsFor({ system, maxIterations, tools }: SubTask): AgentOptions {
    const { given, agent } = this.#parts;
    const { id: _id, name: _name, permission: _permission, hooks: _hooks, tools: _tools, ...rest } = given;
    return {
      ...rest,
      name: agent.creation.name,
      ...(system === undefined ? {} : { system }),
      ...(maxIterations === undefined ? {} : { maxIterations }),
      ...(tools === undefined ? {} : { tools }),
    };
  }

  #lineageFor(parentCallId: string): Lineage {
    const { options, creation, budget, events, acceptsInput } = this.#parts.agent;
    const { permissions, hooks, offers } = options;
    return {
      parentCallId,
      depth: creation.depth + 1,
      permissions,
      hooks,
      offers,
      budget,
      acceptsInput,
      passOn: (event, agentId) => events.emit(event, agentId),
      adopt: (agentId) => {
        this.#descendants.add(agentId);
        this.#parts.lineage?.adopt(agentId);
      },
    };
  }
}

function checkDepth(depth: number, maxDepth: number): void {
  if (depth <= maxDepth) return;
  throw new ToolFailure(failure('permission_denied', reason('agents_nested', { depth: maxDepth })));
}
