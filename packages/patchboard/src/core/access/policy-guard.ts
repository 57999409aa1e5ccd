import { reason } from '@patchboard/wire';
import { explain } from '../explanation.ts';
import { grantRule, type GrantIndex } from './grants.ts';
import type { Decision, Guard, GuardRequest } from './guard.ts';
import { decideFor, mayEverCall } from './policy/decide.ts';
import { matchesGlob } from './policy/glob.ts';
import type { PolicyDocument } from './policy/document.ts';
import { strictest } from './policy/strictest.ts';
import type { Clock } from '../ports.ts';
import type { Principal } from './principal.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import { decisionOf, CompiledPolicy } from './policy/compiled-policy.ts';

/** The policy in force. `document` is null if it could not be decoded: then every call is denied. */
export interface PolicyInForce {
  readonly version: number;
  readonly document: PolicyDocument | null;
}

interface InForce extends PolicyInForce {
  readonly rules: CompiledPolicy | null;
}

const OWN_PERMISSION = { path: 'permission', author: 'agent' } as const;

/** Applies policy, then grants: a grant may turn an `ask` of policy into an `allow`, never a `deny`. */
export class PolicyGuard implements Guard {
  readonly #grants: GrantIndex;
  readonly #clock: Clock;
  /** The policy of tenants that have none of their own. */
  #base: InForce;
  readonly #tenants: Map<string, InForce> = new Map();
  #revision = 0;
  readonly #listeners: Set<(tenant: string | null) => void> = new Set();

  constructor(base: PolicyInForce, grants: GrantIndex, clock: Clock) {
    this.#base = inForce(base);
    this.#grants = grants;
    this.#clock = clock;
  }

  #policyOf(tenant: string): InForce {
    return this.#tenants.get(tenant) ?? this.#base;
  }

  /** Grows with every policy change, because it may change the listed tools. */
  get revision(): number {
    return this.#revision;
  }

  /** `tenant` null: the policy of tenants that have none of their own. */
  replacePolicy(tenant: string | null, policy: PolicyInForce): void {
    if (tenant === null) this.#base = inForce(policy);
    else this.#tenants.set(tenant, inForce(policy));
    this.#revision += 1;
    for (const listener of this.#listeners) listener(tenant);
  }

  onChanged(listener: (tenant: string | null) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  lists(principal: Principal, tool: RegisteredTool): boolean {
    return this.#policyOf(principal.tenant).rules?.mayEverCall(principal.agentId, tool) ?? false;
  }

  listsName(principal: Principal, toolName: string): boolean {
    const { document } = this.#policyOf(principal.tenant);
    return document !== null && mayEverCall(document, principal.agentId, toolName);
  }

  registers(tenant: string, toolName: string): boolean {
    const { document } = this.#policyOf(tenant);
    if (document === null) return false;
    return (
      document.registerable === null ||
      document.registerable.some((pattern) => matchesGlob(pattern, toolName))
    );
  }

  admit({ principal, tool, args, permissions }: GuardRequest): Decision {
    const { version: policyVersion, rules } = this.#policyOf(principal.tenant);
    if (rules === null) {
      return { effect: 'deny', rule: 'policy', ...explain(reason('policy_unreadable')), policyVersion };
    }
    const { agentId, tenant } = principal;
    const { name: toolName, annotations, version: toolVersion } = tool;
    const decided = rules.decide(agentId, tool, args);
    const query = { toolName, annotations, args };
    const own = permissions.map((permission) => decideFor(permission, OWN_PERMISSION, query));
    const verdict = strictest(decided.verdict, own);
    if (verdict.effect === 'ask') {
      const grant = this.#grants.match({ tenant, agentId, toolName, toolVersion, args }, this.#clock.now());
      if (grant !== undefined) {
        const why = explain(reason('granted', { by: grant.createdBy }));
        return { effect: 'allow', rule: grantRule(grant.id), ...why, policyVersion };
      }
    }
    return verdict === decided.verdict ? decided.decision : decisionOf(verdict, policyVersion);
  }
}

function inForce({ version, document }: PolicyInForce): InForce {
  return { version, document, rules: document === null ? null : new CompiledPolicy(version, document) };
}
