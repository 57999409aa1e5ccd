import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveSettings } from '../../../src/settings/settings.ts';
import type { KeyKind } from '../../../src/core/access/key-index.ts';
import type { Store } from '../../../src/core/ports.ts';
import type { Pack, ServerTool } from '../../../src/core/tools/server-tool.ts';
import { startPlatform, type Platform } from '../../../src/wiring/platform.ts';
import { pinoLog } from '../../../src/runtime/log.ts';
import { ask, type TestResponse, type Asked } from './ask.ts';

/** A temporary data folder, removed after the test. */
export interface DataFolder {
  readonly path: string;
  readonly storeFile: string;
  /** Names of the files that contain this text. */
  filesWith(text: string): string[];
  remove(): void;
}

export function aDataFolder(): DataFolder {
  const root = mkdtempSync(join(tmpdir(), 'patchboard-guard-'));
  const path = join(root, 'data');
  return {
    path,
    storeFile: join(path, 'patchboard.db'),
    filesWith: (text) =>
      readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((file) => readFileSync(file).includes(text)),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

export interface PlatformGiven {
  readonly tools?: readonly ServerTool[];
  /** Of the pack that the tools belong to, named `guarded`. */
  readonly resources?: Pick<Pack, 'resources' | 'resourceTemplates' | 'prompts' | 'resourceSource'>;
  /** As the config file has it. */
  readonly config?: unknown;
  readonly environment?: Readonly<Record<string, string>>;
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Default: a new one, removed when the platform is closed. */
  readonly folder?: DataFolder;
  readonly openStore?: (file: string) => Promise<Store>;
}

export interface TestPlatform {
  readonly platform: Platform;
  readonly store: Store;
  readonly port: number;
  readonly folder: DataFolder;
  readonly operatorToken: string;
  /** The log output. */
  readonly log: () => string;
  ask(asked: Asked): Promise<TestResponse>;
  /** With the operator's token. */
  asOperator(method: string, path: string, body?: unknown, tenant?: string): Promise<TestResponse>;
  mint(wanted: KeyWanted): Promise<MintedKey>;
  close(): Promise<void>;
}

export interface KeyWanted {
  readonly kind: KeyKind;
  readonly name: string;
  readonly tenant?: string;
  readonly scopes?: readonly string[];
}

export interface MintedKey {
  readonly id: string;
  readonly secret: string;
  readonly headers: { readonly authorization: string };
}

/** The whole server as `patchboard serve` runs it, on a free port, over SQLite. */
export async function aPlatform(given: PlatformGiven = {}): Promise<TestPlatform> {
  const folder = given.folder ?? aDataFolder();
  const lines: string[] = [];
  const log = pinoLog('info', { write: (line: string) => void lines.push(line) });
  const platform = await start(given, folder, log).catch((error: unknown) => {
    if (given.folder === undefined) folder.remove();
    throw error;
  });
  const port = Number(new URL(platform.url).port);
  const operatorToken =
    given.environment?.['PATCHBOARD_OPERATOR_TOKEN']?.split(',')[0] ??
    readFileSync(join(folder.path, 'operator.token'), 'utf8').trim();
  const asOperator: TestPlatform['asOperator'] = (method, path, body, tenant) => {
    const headers = {
      authorization: `Bearer ${operatorToken}`,
      ...(tenant === undefined ? {} : { 'x-tenant-id': tenant }),
    };
    return ask(port, { method, path, headers, ...(body === undefined ? {} : { body }) });
  };
  return {
    platform,
    store: platform.store,
    port,
    folder,
    operatorToken,
    log: () => lines.join(''),
    ask: (asked) => ask(port, asked),
    asOperator,
    mint: async ({ tenant, ...wanted }) => mintedKey(await asOperator('POST', '/v1/keys', wanted, tenant)),
    close: async () => {
      await platform.close();
      if (given.folder === undefined) folder.remove();
    },
  };
}

async function start(
  given: PlatformGiven,
  folder: DataFolder,
  log: ReturnType<typeof pinoLog>,
): Promise<Platform> {
  const config = `${folder.path}.config.json`;
  writeFileSync(config, JSON.stringify(given.config ?? {}));
  const settings = resolveSettings(given.environment ?? {}, {
    port: String(given.port ?? 0),
    host: given.host ?? '127.0.0.1',
    data: folder.path,
    config,
  });
  return await startPlatform(settings, log, {
    packs: [{ name: 'guarded', tools: given.tools ?? [], ...given.resources }],
    ...(given.openStore === undefined ? {} : { openStore: given.openStore }),
  });
}

function mintedKey(response: TestResponse): MintedKey {
  if (response.status !== 201) throw new Error(`no key was made: ${response.status} ${response.text}`);
  const { key_id: id, key: secret } = response.json as { key_id: string; key: string };
  return { id, secret, headers: { authorization: `Bearer ${secret}` } };
}

/** Starts platforms with these settings, unless a test gives others, and closes each when its test ends. */
export function platformsOfTests(
  closeLater: (close: () => unknown) => void,
  usual: PlatformGiven = {},
): (given?: PlatformGiven) => Promise<TestPlatform> {
  return async (given) => {
    const server = await aPlatform({ ...usual, ...given });
    closeLater(() => server.close());
    return server;
  };
}

/** The state that a refused request must not change. */
export async function recordOf(store: Store): Promise<unknown> {
  const [head, calls, tools, keys, grants, policies] = await Promise.all([
    store.ledgerHead(),
    store.countByState(),
    store.tools(),
    store.documents('key'),
    store.documents('grant'),
    store.documents('policy'),
  ]);
  return { head, calls, tools, keys, grants, policies };
}
