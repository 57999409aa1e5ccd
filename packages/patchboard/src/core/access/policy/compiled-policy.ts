import type { Decision } from '../guard.ts';
import { decideFor, dependsOnArguments, mayEver, policyOf, type PolicyVerdict } from './decide.ts';
import type { AgentPolicy, PolicyDocument } from './document.ts';
import type { RegisteredTool } from '../../tools/registered-tool.ts';

/** The cached decision for one agent and one tool. */
interface CachedDecision {
  readonly path: string;
  readonly mayEver: boolean;
  /** Null: the decision depends on the arguments. */
  readonly decided: Decided | null;
}

export interface Decided {
  readonly verdict: PolicyVerdict;
  readonly decision: Decision;
}

/** One version of a policy. Policy versions and tools are immutable, so decisions are cached per agent and tool. */
export class CompiledPolicy {
  readonly #version: number;
  readonly #document: PolicyDocument;
  readonly #cache: Map<AgentPolicy, WeakMap<RegisteredTool, CachedDecision>> = new Map();

  constructor(version: number, document: PolicyDocument) {
    this.#version = version;
    this.#document = document;
  }

  mayEverCall(agentId: string, tool: RegisteredTool): boolean {
    return this.#cached(agentId, tool).mayEver;
  }

  decide(agentId: string, tool: RegisteredTool, args: unknown): Decided {
    const { path, decided } = this.#cached(agentId, tool);
    if (decided !== null) return decided;
    return this.#decide(policyOf(this.#document, agentId).agent, path, tool, args);
  }

  #cached(agentId: string, tool: RegisteredTool): CachedDecision {
    const { agent, path } = policyOf(this.#document, agentId);
    let ofTools = this.#cache.get(agent);
    if (ofTools === undefined) this.#cache.set(agent, (ofTools = new WeakMap()));
    const known = ofTools.get(tool);
    // Two agent ids may share one policy object, and the decision contains the path of its agent.
    if (known?.path === path) return known;
    const computed: CachedDecision = {
      path,
      mayEver: mayEver(agent, tool.name),
      decided: dependsOnArguments(agent, tool.name) ? null : this.#decide(agent, path, tool, undefined),
    };
    ofTools.set(tool, computed);
    return computed;
  }

  #decide(agent: AgentPolicy, path: string, tool: RegisteredTool, args: unknown): Decided {
    const { name: toolName, annotations } = tool;
    const verdict = decideFor(agent, { path, author: 'board' }, { toolName, annotations, args });
    return { verdict, decision: decisionOf(verdict, this.#version) };
  }
}

export function decisionOf(verdict: PolicyVerdict, policyVersion: number): Decision {
  const { alsoMatched: _others, ...decided } = verdict;
  return { ...decided, policyVersion };
}
