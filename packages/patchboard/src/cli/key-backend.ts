import { PatchboardError, type PatchboardClient } from '@patchboard/client';
import type { KeyKindName, KeyView, MintedKeyView } from '@patchboard/wire';
import type { Failure } from '../core/failures.ts';
import { DEFAULT_TENANT } from '../core/access/principal.ts';
import type { KeyService } from '../core/access/key-service.ts';
import type { Scope } from '../core/access/scopes.ts';
import { hasLocalModeEnded } from '../core/access/local-mode.ts';
import { keyUsesIn } from '../core/access/key-uses.ts';
import type { DocumentStore } from '../core/documents.ts';
import { keyView } from '../transports/operator-api/keys.ts';
import type { CliContext } from './context.ts';
import { withDatabaseKeys, withReadDatabase } from './database/database-store.ts';
import { folderOperator, holdsStore, keysIn, withKeyService, withReadOnlyStore } from './data-folder.ts';
import { isLocalMode } from './local-mode.ts';
import { asOperator, type OperatorOptions } from './operator-client.ts';
import { withServerOrStore } from './server-or-store.ts';
import { storeLocation, type StoreFlags, type StoreLocation } from './store-location.ts';

export interface WantedKey {
  readonly kind: KeyKindName;
  readonly name: string;
  /** Null: the default scopes of the kind. */
  readonly scopes: readonly Scope[] | null;
  readonly expiresAt: number | null;
}

export interface KeyOptions extends OperatorOptions, StoreFlags {}

/** Manages keys through a server, or in the store of a server that is not running. */
export interface KeyBackend {
  /** Whether a key that is created now would end local mode. */
  wouldEndLocalMode(): Promise<boolean>;
  create(wanted: WantedKey): Promise<{ readonly key: MintedKeyView; readonly endsLocalMode: boolean }>;
  list(): Promise<readonly KeyView[]>;
  /** `wasLast` is true if the tenant has no other key, and the store had local mode before its first key. */
  revoke(id: string): Promise<{ readonly key: KeyView; readonly wasLast: boolean }>;
}

/**
 * Uses the server if it is reachable, otherwise the store as `withServerOrStore` says.
 * `mayCreate`: a missing data folder may be created.
 */
export async function withKeyBackend<T>(
  context: CliContext,
  options: KeyOptions,
  mayCreate: boolean,
  work: (backend: KeyBackend) => Promise<T>,
): Promise<T> {
  const location = storeLocation(context, options);
  const mayUse = mayCreate || location.kind === 'postgres' || holdsStore(location.folder);
  return await withServerOrStore(context, options, mayUse ? location : null, {
    server: (url) => asOperator(context, options, (client) => work(serverBackend(client, url))),
    store: (used) => work(storeBackend(accessTo(used), options.tenant)),
  });
}

/** How the keys of a store are reached without a server. */
interface KeyAccess {
  /** Whether a server on this store can be in local mode. */
  readonly hasLocalMode: boolean;
  localModeEnded(): Promise<boolean>;
  change<T>(work: (keys: KeyService) => Promise<T>): Promise<T>;
  list(): Promise<KeyView[]>;
}

function accessTo(location: StoreLocation): KeyAccess {
  return location.kind === 'folder'
    ? {
        hasLocalMode: true,
        localModeEnded: async () =>
          holdsStore(location.folder) && (await withReadOnlyStore(location.folder, hasLocalModeEnded)),
        change: (work) => withKeyService(location.folder, work),
        list: () => withReadOnlyStore(location.folder, keyViewsIn),
      }
    : {
        hasLocalMode: false,
        localModeEnded: () => withReadDatabase(location, hasLocalModeEnded),
        change: (work) => withDatabaseKeys(location, work),
        list: () => withReadDatabase(location, keyViewsIn),
      };
}

async function keyViewsIn(store: Pick<DocumentStore, 'documents'>): Promise<KeyView[]> {
  const lastUses = await keyUsesIn(store);
  return (await keysIn(store)).map((key) => keyView(key, lastUses.get(key.id) ?? null));
}

function serverBackend(client: PatchboardClient, url: string): KeyBackend {
  const list = async (): Promise<KeyView[]> => {
    const keys: KeyView[] = [];
    for await (const key of client.keys.list()) keys.push(key);
    return keys;
  };
  const wouldEndLocalMode = async (): Promise<boolean> => (await isLocalMode(url)) === true;
  return {
    wouldEndLocalMode,
    async create({ kind, name, scopes, expiresAt }) {
      const endsLocalMode = await wouldEndLocalMode();
      const key = await client.keys.create({
        kind,
        name,
        ...(scopes === null ? {} : { scopes }),
        ...(expiresAt === null ? {} : { expiresAt: new Date(expiresAt) }),
      });
      return { key, endsLocalMode };
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

function storeBackend(access: KeyAccess, tenant: string = DEFAULT_TENANT): KeyBackend {
  const operator = folderOperator(tenant);
  return {
    wouldEndLocalMode: async () => access.hasLocalMode && !(await access.localModeEnded()),
    create: (wanted) =>
      access.change(async (keys) => {
        const endsLocalMode = access.hasLocalMode && !keys.localModeEnded;
        const { key, secret } = valueOrThrow(await keys.mint(operator, { tenant, ...wanted }));
        return { key: { ...keyView(key, null), key: secret }, endsLocalMode };
      }),
    list: async () => (await access.list()).filter((key) => key.tenant_id === tenant),
    revoke: (id) =>
      access.change(async (keys) => {
        const key = valueOrThrow(await keys.revoke(operator, id));
        const wasLast = access.hasLocalMode && keys.index.list(tenant).length === 0;
        return { key: keyView(key), wasLast };
      }),
  };
}

/** Throws a failure as the error that a server's response would become. */
export function valueOrThrow<T extends object>(result: T | Failure): T {
  if (!('code' in result)) return result;
  const { code, message, recommendations = [] } = result;
  throw new PatchboardError('problem', message, { code, recommendations });
}
