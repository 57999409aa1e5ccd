import { PatchboardError, type PatchboardClient } from '@patchboard/client';
import type { KeyKindName, KeyView, MintedKeyView } from '@patchboard/wire';
import type { Failure } from '../core/failures.ts';
import { DEFAULT_TENANT } from '../core/access/principal.ts';
import type { Scope } from '../core/access/scopes.ts';
import { keyView } from '../transports/operator-api/keys.ts';
import { clientSettings } from '../settings/environment.ts';
import type { CliContext } from './context.ts';
import { folderOperator, holdsStore, keysIn, withKeyService, withReadOnlyStore } from './data-folder.ts';
import { isLocalMode } from './local-mode.ts';
import {
  asOperator,
  isOnThisMachine,
  operatorClient,
  operatorCredential,
  type OperatorOptions,
} from './operator-client.ts';

export interface WantedKey {
  readonly kind: KeyKindName;
  readonly name: string;
  /** Null: what the kind is good for. */
  readonly scopes: readonly Scope[] | null;
  readonly expiresAt: number | null;
}

/** Where keys are managed: a server, or the data folder of one that does not run. */
export interface KeyBackend {
  create(wanted: WantedKey): Promise<{ readonly key: MintedKeyView; readonly endsLocalMode: boolean }>;
  list(): Promise<readonly KeyView[]>;
  /** `wasLast`: the tenant has no other key. */
  revoke(id: string): Promise<{ readonly key: KeyView; readonly wasLast: boolean }>;
}

const PROBE_MS = 5000;

/**
 * The server's, if it answers. If it does not and is one of this machine, the data folder's, and whoever watches is
 * told. `mayMake`: the folder may be made for it.
 */
export async function withKeyBackend<T>(
  context: CliContext,
  options: OperatorOptions,
  mayMake: boolean,
  work: (backend: KeyBackend) => Promise<T>,
): Promise<T> {
  const credential = await operatorCredential(context, options);
  const { dataFolder } = clientSettings(context.environment);
  const unreachable = await probe(operatorClient(credential, options));
  const mayGoOffline = isOnThisMachine(credential.url) && (mayMake || holdsStore(dataFolder));
  if (unreachable === null || !mayGoOffline) {
    // Unreachable for good: the request itself says so, in the words every command uses.
    return asOperator(context, options, (client) => work(serverDesk(client, credential.url)));
  }
  context.output.note(`${credential.url} does not answer; using the data folder ${dataFolder} directly`);
  return work(folderDesk(dataFolder, options.tenant));
}

async function probe(client: PatchboardClient): Promise<Error | null> {
  try {
    await client.health({ signal: AbortSignal.timeout(PROBE_MS) });
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function serverDesk(client: PatchboardClient, url: string): KeyBackend {
  const list = async (): Promise<KeyView[]> => {
    const keys: KeyView[] = [];
    for await (const key of client.keys.list()) keys.push(key);
    return keys;
  };
  return {
    async create({ kind, name, scopes, expiresAt }) {
      const wasLocal = await isLocalMode(url);
      const key = await client.keys.create({
        kind,
        name,
        ...(scopes === null ? {} : { scopes }),
        ...(expiresAt === null ? {} : { expiresAt: new Date(expiresAt) }),
      });
      return { key, endsLocalMode: wasLocal === true };
    },
    list,
    async revoke(id) {
      const key = await client.keys.revoke(id);
      return { key, wasLast: await isEmpty(list) };
    },
  };
}

/** False too if the list is refused: the key that was revoked may be the one of this command. */
async function isEmpty(list: () => Promise<readonly KeyView[]>): Promise<boolean> {
  try {
    return (await list()).length === 0;
  } catch (error) {
    if (error instanceof PatchboardError && error.code === 'auth_required') return false;
    throw error;
  }
}

function folderDesk(dataFolder: string, tenant: string = DEFAULT_TENANT): KeyBackend {
  const operator = folderOperator(tenant);
  return {
    create: (wanted) =>
      withKeyService(dataFolder, async (keys) => {
        const endsLocalMode = !keys.localModeEnded;
        const { key, secret } = granted(await keys.mint(operator, { tenant, ...wanted }));
        return { key: { ...keyView(key), key: secret }, endsLocalMode };
      }),
    list: () =>
      withReadOnlyStore(dataFolder, async (store) =>
        (await keysIn(store)).filter((key) => key.tenant === tenant).map(keyView),
      ),
    revoke: (id) =>
      withKeyService(dataFolder, async (keys) => {
        const key = granted(await keys.revoke(operator, id));
        return { key: keyView(key), wasLast: keys.index.list(tenant).length === 0 };
      }),
  };
}

/** A refusal reads the same whether a server or the folder gave it. */
export function granted<T extends object>(answer: T | Failure): T {
  if (!('code' in answer)) return answer;
  const { code, message, recommendations = [] } = answer;
  throw new PatchboardError('problem', message, { code, recommendations });
}
