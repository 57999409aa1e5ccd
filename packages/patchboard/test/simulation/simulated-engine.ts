import { followAccessChanges } from '../../src/core/access/access-changes.ts';
import type { Authenticator } from '../../src/core/access/authenticator.ts';
import { GrantIndex } from '../../src/core/access/grants.ts';
import { GrantService } from '../../src/core/access/grant-service.ts';
import { KeyService } from '../../src/core/access/key-service.ts';
import { PolicyGuard } from '../../src/core/access/policy-guard.ts';
import { EMPTY_POLICY } from '../../src/core/access/policy/document.ts';
import { PolicyService } from '../../src/core/access/policy-service.ts';
import { DEFAULT_RATES, RateLimits } from '../../src/core/access/rate-limits.ts';
import { TenantDirectory } from '../../src/core/access/tenant-directory.ts';
import { TenantService } from '../../src/core/access/tenant-service.ts';
import { Redactor } from '../../src/core/call/redaction.ts';
import { Engine } from '../../src/core/engine.ts';
import { resolveLimits } from '../../src/core/limits.ts';
import type { Peers } from '../../src/core/peers.ts';
import type { Clock, CompiledSchema, Log, Schemas, Store } from '../../src/core/ports.ts';
import { NO_WORKSPACES } from '../../src/core/workspaces.ts';
import { CredentialAuthenticator } from '../../src/identity/credential-authenticator.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { timeOrderedIds } from '../../src/runtime/ids.ts';
import { jsonSchemas } from '../../src/schemas/json-schemas.ts';
import { SIMULATED_LIMITS } from './profile.ts';
import type { Random } from './random.ts';
import type { SimulatedProcess } from './simulated-process.ts';

export interface SimulatedEngineParts {
  readonly clock: Clock;
  readonly process: SimulatedProcess;
  readonly store: Store;
  readonly peers: Peers;
  readonly log: Log;
  readonly random: Random;
}

const LIMITS = resolveLimits(SIMULATED_LIMITS);

/** The real engine on the simulated clock, store and randomness of one process. Its packs are not added yet. */
export function simulatedEngine({ clock, process, store, peers, log, random }: SimulatedEngineParts): Engine {
  const index = new GrantIndex(nodeDigest);
  const ids = timeOrderedIds(clock, random.of('ids', process.name));
  const tenants = new TenantDirectory();
  const guard = new PolicyGuard({ version: 0, document: EMPTY_POLICY }, index, clock);
  const grants = new GrantService({ store, index, clock, ids, digest: nodeDigest });
  const engine = new Engine({
    store,
    peers,
    clock,
    ids,
    log,
    digest: nodeDigest,
    schemas: SCHEMAS,
    limits: LIMITS,
    guard,
    hooks: [],
    grants,
    rates: new RateLimits(DEFAULT_RATES, clock, tenants),
    redactor: new Redactor([]),
    workspaces: NO_WORKSPACES,
    tenants,
  });
  const policies = new PolicyService({ store, guard, clock, initial: {} });
  const settings = new TenantService({ store, clock, directory: tenants });
  const keys = new KeyService({ store, clock, ids, digest: nodeDigest, log });
  followAccessChanges(engine.changes, { keys, policies, tenants: settings }, log);
  services.set(engine, { grants, policies, keys, authenticator: authenticatorOf(engine, keys, log) });
  return engine;
}

/** The services that change what callers may do. */
export interface AccessServices {
  readonly grants: GrantService;
  readonly policies: PolicyService;
  readonly keys: KeyService;
  /** Takes keys only. */
  readonly authenticator: Authenticator;
}

function authenticatorOf({ changes }: Engine, keys: KeyService, log: Log): Authenticator {
  const unused = {} as never;
  const parts = { keys, changes, log, jwt: null, mayBeLocal: false };
  return new CredentialAuthenticator({
    ...parts,
    operatorToken: unused,
    sessions: unused,
    internalKeys: unused,
  });
}

const services: WeakMap<Engine, AccessServices> = new WeakMap();

export function accessOf(engine: Engine): AccessServices {
  const found = services.get(engine);
  if (found === undefined) throw new Error('not a simulated engine');
  return found;
}

/** Compiling is slow, and every process of every simulation has the same tools. */
const SCHEMAS: Schemas = remembered(jsonSchemas());

function remembered(schemas: Schemas): Schemas {
  const compiled: Map<string, CompiledSchema> = new Map();
  return {
    compile: (schema, origin) => {
      const key = `${origin}\n${JSON.stringify(schema)}`;
      const known = compiled.get(key) ?? schemas.compile(schema, origin);
      compiled.set(key, known);
      return known;
    },
  };
}
