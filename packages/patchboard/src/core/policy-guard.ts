import type { GrantBook } from './grants.ts';
import type { Decision, Guard, GuardRequest } from './guard.ts';
import { decideFor, decidePolicy, mayEverCall } from './policy/decide.ts';
import { matchesGlob } from './policy/glob.ts';
import type { PolicyDocument } from './policy/document.ts';
import { strictest } from './policy/strictest.ts';
import type { Clock } from './ports.ts';
import type { Principal } from './principal.ts';
import type { RegisteredTool } from './registry.ts';

/** The policy in force. `document` null: it could not be read, and everything is denied until it can. */
export interface PolicyInForce {
  readonly version: number;
  readonly document: PolicyDocument | null;
}

/** Policy first; a standing grant may turn its ask into an allow, never its deny. */
export class PolicyGuard implements Guard {
  readonly #grants: GrantBook;
  readonly #clock: Clock;
  /** For tenants that have none of their own. */
  #base: PolicyInForce;
  readonly #tenants: Map<string, PolicyInForce> = new Map();
  #revision = 0;

  constructor(base: PolicyInForce, grants: GrantBook, clock: Clock) {
    this.#base = base;
    this.#grants = grants;
    this.#clock = clock;
  }

  policyOf(tenant: string): PolicyInForce {
    return this.#tenants.get(tenant) ?? this.#base;
  }

  /** Another policy lists other tools. */
  get revision(): number {
    return this.#revision;
  }

  /** `tenant` null: for those that have none of their own. */
  replacePolicy(tenant: string | null, policy: PolicyInForce): void {
    if (tenant === null) this.#base = policy;
    else this.#tenants.set(tenant, policy);
    this.#revision += 1;
  }

  lists(principal: Principal, tool: RegisteredTool): boolean {
    return this.listsName(principal, tool.name);
  }

  listsName(principal: Principal, toolName: string): boolean {
    const { document } = this.policyOf(principal.tenant);
    return document !== null && mayEverCall(document, principal.agentId, toolName);
  }

  registers(tenant: string, toolName: string): boolean {
    const { document } = this.policyOf(tenant);
    if (document === null) return false;
    return (
      document.registerable === null ||
      document.registerable.some((pattern) => matchesGlob(pattern, toolName))
    );
  }

  admit({ principal, tool, args, permissions }: GuardRequest): Decision {
    const { version: policyVersion, document } = this.policyOf(principal.tenant);
    if (document === null) {
      return { effect: 'deny', rule: 'policy', reason: 'the policy cannot be read', policyVersion };
    }
    const { agentId, tenant } = principal;
    const asked = { agentId, toolName: tool.name, annotations: tool.annotations, args };
    const own = permissions.map((permission) => decideFor(permission, 'permission', asked));
    const verdict = strictest(decidePolicy(document, asked), own);
    if (verdict.effect === 'ask') {
      const question = { tenant, agentId, toolName: tool.name, toolVersion: tool.version, args };
      const grant = this.#grants.match(question, this.#clock.now());
      if (grant !== undefined) {
        const reason = `${grant.createdBy} said not to ask again`;
        return { effect: 'allow', rule: `grant:${grant.id}`, reason, policyVersion };
      }
    }
    const { effect, rule, reason, isOpen } = verdict;
    return { effect, rule, reason, policyVersion, ...(isOpen === undefined ? {} : { isOpen }) };
  }
}
