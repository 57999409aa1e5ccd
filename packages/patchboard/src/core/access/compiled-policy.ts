import type { Decision } from './guard.ts';
import { decideFor, looksAtArguments, mayEver, policyOf, type PolicyVerdict } from './policy/decide.ts';
import type { AgentPolicy, PolicyDocument } from './policy/document.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';

/** The policy's verdict on an agent and a tool, as far as it does not depend on the arguments. */
interface CachedVerdict {
  readonly path: string;
  readonly mayEver: boolean;
  /** Null if it depends on the arguments. */
  readonly decided: Decided | null;
}

export interface Decided {
  readonly verdict: PolicyVerdict;
  readonly decision: Decision;
}

/** One version of a policy. Neither it nor a tool ever changes, so the verdict on a tool is computed once and cached. */
export class CompiledPolicy {
  readonly #version: number;
  readonly #document: PolicyDocument;
  readonly #verdicts: Map<AgentPolicy, WeakMap<RegisteredTool, CachedVerdict>> = new Map();

  constructor(version: number, document: PolicyDocument) {
    this.#version = version;
    this.#document = document;
  }

  mayEverCall(agentId: string, tool: RegisteredTool): boolean {
    return this.#verdict(agentId, tool).mayEver;
  }

  decide(agentId: string, tool: RegisteredTool, args: unknown): Decided {
    const { path, decided } = this.#verdict(agentId, tool);
    if (decided !== null) return decided;
    return this.#decided(policyOf(this.#document, agentId).agent, path, tool, args);
  }

  #verdict(agentId: string, tool: RegisteredTool): CachedVerdict {
    const { agent, path } = policyOf(this.#document, agentId);
    let byTool = this.#verdicts.get(agent);
    if (byTool === undefined) this.#verdicts.set(agent, (byTool = new WeakMap()));
    const cached = byTool.get(tool);
    // Two agent names may share one policy object; the verdict names the path it was found under.
    if (cached?.path === path) return cached;
    const verdict: CachedVerdict = {
      path,
      mayEver: mayEver(agent, tool.name),
      decided: looksAtArguments(agent, tool.name) ? null : this.#decided(agent, path, tool, undefined),
    };
    byTool.set(tool, verdict);
    return verdict;
  }

  #decided(agent: AgentPolicy, path: string, tool: RegisteredTool, args: unknown): Decided {
    const { name: toolName, annotations } = tool;
    const verdict = decideFor(agent, { path, author: 'board' }, { toolName, annotations, args });
    return { verdict, decision: decisionOf(verdict, this.#version) };
  }
}

export function decisionOf(verdict: PolicyVerdict, policyVersion: number): Decision {
  const { alsoMatched: _others, ...decided } = verdict;
  return { ...decided, policyVersion };
}
