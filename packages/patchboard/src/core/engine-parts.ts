import type { GrantService } from './access/grant-service.ts';
import type { Guard } from './access/guard.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { Limits } from './limits.ts';
import type { Peers } from './peers.ts';
import type { Clock, Digest, Ids, Log, Schemas, Store } from './ports.ts';
import type { RateLimits } from './access/rate-limits.ts';
import type { Redactor } from './call/redaction.ts';
import type { TenantDirectory } from './access/tenant-directory.ts';
import type { Workspaces } from './workspaces.ts';

/** The ports, services and settings that an engine is built from. */
export interface EngineParts {
  readonly store: Store;
  /** Other nodes that share the store. */
  readonly peers: Peers;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly digest: Digest;
  readonly schemas: Schemas;
  readonly limits: Limits;
  readonly guard: Guard;
  /** The board's hooks. They run for calls from every API. */
  readonly hooks: readonly Hooks[];
  readonly grants: GrantService;
  readonly rates: RateLimits;
  readonly redactor: Redactor;
  readonly workspaces: Workspaces;
  readonly tenants: TenantDirectory;
}
