import { ConfigError } from './cli/config-file.ts';
import { isLoopback, type Settings } from './cli/settings.ts';
import { messageOf } from './core/failures.ts';
import { GrantBook } from './core/grants.ts';
import { GrantOffice } from './core/grant-office.ts';
import { KeyOffice } from './core/key-office.ts';
import type { Offices } from './core/offices.ts';
import { PolicyGuard } from './core/policy-guard.ts';
import { PolicyOffice } from './core/policy-office.ts';
import type { Ids, Log, Store } from './core/ports.ts';
import { Gatekeeper } from './identity/gatekeeper.ts';
import { JwtIdentity } from './identity/jwt-identity.ts';
import { ensureOperatorToken } from './identity/operator-token.ts';
import { Sessions } from './identity/sessions.ts';
import { nodeClock } from './runtime/node-clock.ts';
import { nodeDigest } from './runtime/digest.ts';

/** Everything that decides who may ask and what is allowed, read from the store. */
export interface GuardRoom {
  readonly guard: PolicyGuard;
  readonly offices: Offices;
  readonly gatekeeper: Gatekeeper;
  readonly sessions: Sessions;
}

export async function openGuard(
  settings: Settings,
  { store, ids, log }: { store: Store; ids: Ids; log: Log },
): Promise<GuardRoom> {
  const parts = { store, ids, clock: nodeClock, digest: nodeDigest };
  const book = new GrantBook(nodeDigest);
  // Until the policy is read, nothing is allowed.
  const guard = new PolicyGuard({ version: 0, document: null }, book, nodeClock);
  const keys = new KeyOffice(parts);
  const grants = new GrantOffice({ ...parts, book });
  const policies = new PolicyOffice({ store, guard, clock: nodeClock, initial: settings.policy });
  await keys.load();
  await grants.load();
  for (const problem of await policies.load()) log.error('policy.unreadable', { problem });
  const jwt = settings.jwt === null ? null : new JwtIdentity(settings.jwt);
  refuseOpenDoor(settings, jwt !== null || keys.ring.size > 0);
  const operatorToken = await operatorTokenIn(settings.dataFolder);
  const sessions = new Sessions(operatorToken, nodeClock);
  const mayBeLocal = isLoopback(settings.host) && !settings.isProduction && !settings.trustProxy;
  const gatekeeper = new Gatekeeper({ keys, jwt, operatorToken, sessions, mayBeLocal });
  return { guard, offices: { keys, grants, policies, sessions }, gatekeeper, sessions };
}

/** A file that cannot be used is for a person to see to. */
async function operatorTokenIn(dataFolder: string): Promise<string> {
  try {
    return await ensureOperatorToken(dataFolder);
  } catch (error) {
    throw new ConfigError(`cannot use the operator token in ${dataFolder}: ${messageOf(error)}`);
  }
}

/** Off loopback everybody could call every tool, unless somebody must show a credential. */
function refuseOpenDoor({ host }: Settings, hasCredentials: boolean): void {
  if (isLoopback(host) || hasCredentials) return;
  throw new ConfigError(
    `HOST=${host} is not a loopback address, and no credential is configured, so that anybody could call every tool: ` +
      'make a key first (patchboard keys create --kind operator --name NAME) or set auth.jwt in the config',
  );
}
