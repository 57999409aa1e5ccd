import type { Decision } from './guard.ts';
import { decideFor, looksAtArguments, mayEver, policyOf, type PolicyVerdict } from './policy/decide.ts';
import type { AgentPolicy, PolicyDocument } from './policy/document.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';

/** What the policy says of an agent and a tool, whatever the arguments. */
interface Standing {
  readonly path: string;
  readonly mayEver: boolean;
  /** Null: it depends on the arguments. */
  readonly decided: Decided | null;
}

export interface Decided {
  readonly verdict: PolicyVerdict;
  readonly decision: Decision;
}

/** One version of a policy. Neither it nor a tool ever changes, so what it says of a tool is worked out once. */
export class CompiledPolicy {
  readonly #version: number;
  readonly #document: PolicyDocument;
  readonly #standings: Map<AgentPolicy, WeakMap<RegisteredTool, Standing>> = new Map();

  constructor(version: number, document: PolicyDocument) {
    this.#version = version;
    this.#document = document;
  }

  mayEverCall(agentId: string, tool: RegisteredTool): boolean {
    return this.#standing(agentId, tool).mayEver;
  }

  decide(agentId: string, tool: RegisteredTool, args: unknown): Decided {
    const { path, decided } = this.#standing(agentId, tool);
    if (decided !== null) return decided;
    return this.#decided(policyOf(this.#document, agentId).agent, path, tool, args);
  }

  #standing(agentId: string, tool: RegisteredTool): Standing {
    const { agent, path } = policyOf(this.#document, agentId);
    let ofTools = this.#standings.get(agent);
    if (ofTools === undefined) this.#standings.set(agent, (ofTools = new WeakMap()));
    const known = ofTools.get(tool);
    // Two names may stand for one policy; what is decided says under which.
    if (known?.path === path) return known;
    const standing: Standing = {
      path,
      mayEver: mayEver(agent, tool.name),
      decided: looksAtArguments(agent, tool.name) ? null : this.#decided(agent, path, tool, undefined),
    };
    ofTools.set(tool, standing);
    return standing;
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
