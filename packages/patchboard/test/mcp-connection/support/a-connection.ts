import { fileURLToPath } from 'node:url';
import type { Log } from '../../../src/core/ports.ts';
import { nodeClock } from '../../../src/runtime/node-clock.ts';
import type {
  McpConnectionListener,
  McpRequest,
  McpToolList,
} from '../../../src/sources/mcp/mcp-connection.ts';
import type { McpUpstreamSettings } from '../../../src/sources/mcp/mcp-upstream-settings.ts';
import { ReconnectingConnection } from '../../../src/sources/mcp/reconnecting-connection.ts';
import type { McpConnectionParts } from '../../../src/sources/mcp/session-transport.ts';
import { guardedFetch } from '../../../src/sources/shared/guarded-fetch.ts';
import { waitFor } from '../../support/wait-for.ts';

export interface LogLine {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A connection with what it reported. */
export class AConnection {
  readonly lists: McpToolList[] = [];
  readonly states: string[] = [];
  readonly lines: LogLine[] = [];
  readonly connection: ReconnectingConnection;

  constructor(settings: McpUpstreamSettings, parts: Partial<McpConnectionParts> = {}) {
    const note = (event: string, fields: LogLine['fields'] = {}): void =>
      void this.lines.push({ event, fields });
    const log: Log = { info: note, warn: note, error: note };
    this.connection = new ReconnectingConnection(settings, {
      clock: nodeClock,
      random: () => 0,
      log,
      fetch: guardedFetch({ allowedOrigins: originsOf(settings) }),
      accessTokens: null,
      mask: (text) => text.replaceAll('s3cret-value', '[redacted]'),
      environment: process.env,
      instanceId: 'this-instance',
      ...parts,
    });
  }

  start(): this {
    const listener: McpConnectionListener = {
      toolsListed: (list) => void this.lists.push(list),
      stateChanged: () => void this.states.push(this.connection.status().state),
    };
    this.connection.start(listener);
    return this;
  }

  async online(): Promise<this> {
    await waitFor(() => {
      if (!this.connection.isOnline) throw new Error(JSON.stringify(this.connection.status()));
    });
    return this;
  }

  call(
    name: string,
    args: object = {},
    options: Partial<McpRequest> = {},
  ): ReturnType<ReconnectingConnection['request']> {
    return this.connection.request({
      method: 'tools/call',
      params: { name, arguments: args },
      capabilities: {},
      signal: new AbortController().signal,
      ...options,
    });
  }
}

export function httpSettings(url: string, more: Partial<McpUpstreamSettings> = {}): McpUpstreamSettings {
  return { ...SETTINGS, transport: { kind: 'http', url, headers: {}, auth: null }, ...more };
}

/** `script` is a file of `servers`. */
export function stdioSettings(
  script: string,
  args: readonly string[] = [],
  more: Partial<McpUpstreamSettings> = {},
): McpUpstreamSettings {
  const path = fileURLToPath(new URL(`../servers/${script}`, import.meta.url));
  const transport = {
    kind: 'stdio',
    command: process.execPath,
    args: [path, ...args],
    env: {},
    cwd: null,
    sandbox: null,
  } as const;
  return { ...SETTINGS, transport, ...more };
}

const SETTINGS: McpUpstreamSettings = {
  name: 'up',
  kind: 'mcp',
  tenants: null,
  onChange: 'run',
  concurrency: 8,
  timeoutMs: 60_000,
  transport: { kind: 'http', url: '', headers: {}, auth: null },
  tools: ['*'],
  protocol: 'auto',
  hints: 'believe',
  inputRequests: false,
  sampling: false,
};

/** The text of a result with one text block. */
export function textOf(response: Awaited<ReturnType<ReconnectingConnection['request']>>): string {
  if (response.kind === 'error') throw new Error(response.message);
  const [block] = response.result['content'] as { text: string }[];
  return block?.text ?? '';
}

function originsOf({ transport }: McpUpstreamSettings): string[] {
  return transport.kind === 'http' ? [new URL(transport.url).origin] : [];
}
