import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { WAIT_TOOL } from './arms/bench-pack.ts';
import type { StorePlace } from './arms/bench-settings.ts';
import type { ServerSettings } from './arms/patchboard.ts';
import { startServer, type ServerProcess } from './child.ts';
import { Connections, type Headers } from './http.ts';
import { AS_OPERATOR, createKey } from './key.ts';

/** Servers that share one database. */
export interface Nodes {
  readonly urls: readonly string[];
  /** Of each node. */
  readonly slots: number;
  /** With a key that may call tools and read calls at each of them. */
  readonly headers: Headers;
  stop(): Promise<void>;
}

/** Starts nodes with `slots` slots each, and resolves when each of them knows the others. */
export async function startNodes(count: number, slots: number, place: StorePlace): Promise<Nodes> {
  const servers: ServerProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const server of servers) await server.stop();
  };
  try {
    for (let node = 0; node < count; node += 1) {
      const folder = join(place.folder, `node-${node}`);
      await mkdir(folder, { recursive: true });
      const limits = { concurrencyServer: slots, concurrencyPerTenant: slots };
      const settings: ServerSettings = { ...place, folder, groupCommit: true, limits };
      servers.push(await startServer('./arms/patchboard.ts', settings));
    }
    const urls = servers.map(({ url }) => url);
    const headers = await createKey(urls[0] ?? '');
    await Promise.all(urls.map((url) => untilComplete(url, count)));
    return { urls, slots, headers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export function invokeUrl(node: string, tool: string = WAIT_TOOL): string {
  return `${node}/v1/tools/${tool}/invoke`;
}

/** Resolves when the node lists `count` running nodes. */
async function untilComplete(url: string, count: number): Promise<void> {
  const connection = new Connections(url);
  try {
    for (;;) {
      const { nodes } = JSON.parse(await connection.get('/v1/nodes', AS_OPERATOR)) as {
        readonly nodes: readonly { readonly state: string }[];
      };
      if (nodes.filter(({ state }) => state === 'running').length === count) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    connection.close();
  }
}
