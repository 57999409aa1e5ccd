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
import { asOperator, type OperatorOptions } from './operator-client.ts';
import { withServerOrFolder } from './server-or-folder.ts';

export interface WantedKey {
  readonly kind: KeyKindName;
  readonly name: string;
  /** Null: the default scopes of the kind. */
  readonly scopes: readonly Scope[] | null;
  readonly expiresAt: number | null;
}

/** Manages keys through a server, or in the data folder of a server that is not running. */
export interface KeyBackend {
  create(wanted: WantedKey): Promise<{ readonly key: MintedKeyView; readonly endsLocalMode: boolean }>;
  list(): Promise<readonly KeyView[]>;
  /** `wasLast` is true if the tenant has no other key. */
  revoke(id: string): Promise<{ readonly key: KeyView; readonly wasLast: boolean }>;
}

/**
 * Uses the server if it is reachable, otherwise the data folder as `withServerOrFolder` says.
 * `mayCreate`: a missing data folder may be created.
 */
export async function withKeyBackend<T>(
  context: CliContext,
  options: OperatorOptions,
  mayCreate: boolean,
  work: (backend: KeyBackend) => Promise<T>,
): Promise<T> {
  const { dataFolder } = clientSettings(context.environment);
  return await withServerOrFolder(context, options, mayCreate || holdsStore(dataFolder), {
    server: (url) => asOperator(context, options, (client) => work(serverBackend(client, url))),
    folder: () => work(folderBackend(dataFolder, options.tenant)),
  });
}

function serverBackend(client: PatchboardClient, url: string): KeyBackend {
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

/** Returns false also if the list is refused: the revoked key may be the one that this command uses. */
async function isEmpty(list: () => Promise<readonly KeyView[]>): Promise<boolean> {
  try {
    return (await list()).length === 0;
  } catch (error) {
    if (error instanceof PatchboardError && error.code === 'auth_required') return false;
    throw error;
  }
}

function folderBackend(dataFolder: string, tenant: string = DEFAULT_TENANT): KeyBackend {
  const operator = folderOperator(tenant);
  return {
    create: (wanted) =>
      withKeyService(dataFolder, async (keys) => {
        const endsLocalMode = !keys.localModeEnded;
        const { key, secret } = valueOrThrow(await keys.mint(operator, { tenant, ...wanted }));
        return { key: { ...keyView(key), key: secret }, endsLocalMode };
      }),
    list: () =>
      withReadOnlyStore(dataFolder, async (store) =>
        (await keysIn(store)).filter((key) => key.tenant === tenant).map(keyView),
      ),
    revoke: (id) =>
      withKeyService(dataFolder, async (keys) => {
        const key = valueOrThrow(await keys.revoke(operator, id));
        return { key: keyView(key), wasLast: keys.index.list(tenant).length === 0 };
      }),
  };
}

/** Throws a failure as the error that a server's response would become. */
export function valueOrThrow<T extends object>(result: T | Failure): T {
  if (!('code' in result)) return result;
  const { code, message, recommendations = [] } = result;
  throw new PatchboardError('problem', message, { code, recommendations });
}
