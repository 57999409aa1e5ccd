import type { RejectedTool } from '@patchboard/wire';
import type { ToolContext } from '../../src/core/tools/server-tool.ts';
import type {
  Upstream,
  UpstreamListener,
  UpstreamSettings,
  UpstreamStatus,
  UpstreamTool,
} from '../../src/core/upstreams/upstream.ts';

/** An upstream without a network: the test says what it lists, what state it has and how its calls end. */
export class AnUpstream implements Upstream {
  readonly settings: UpstreamSettings;
  execution: (tool: UpstreamTool, args: unknown, context: ToolContext) => unknown = () => 'done';
  state: UpstreamStatus['state'] = 'disconnected';
  lastError: UpstreamStatus['lastError'] = null;
  /** The rest of its status. */
  details: Partial<UpstreamStatus> = {};
  restarts = 0;
  isClosed = false;
  #listener: UpstreamListener | null = null;

  constructor(settings: Partial<UpstreamSettings> = {}) {
    this.settings = {
      name: 'github',
      kind: 'mcp',
      tenants: null,
      onChange: 'ask',
      concurrency: 8,
      timeoutMs: 60_000,
      ...settings,
    };
  }

  get isStarted(): boolean {
    return this.#listener !== null;
  }

  start(listener: UpstreamListener): void {
    this.#listener = listener;
  }

  lists(tools: readonly UpstreamTool[], rejected: readonly RejectedTool[] = []): void {
    this.#listener?.listed(tools, rejected);
  }

  becomes(state: UpstreamStatus['state'], message?: string): void {
    this.state = state;
    if (message !== undefined) this.lastError = { message, at: 0 };
    this.#listener?.stateChanged();
  }

  status(): UpstreamStatus {
    return {
      state: this.state,
      protocol: null,
      server: null,
      address: 'https://example.org',
      lastError: this.lastError,
      connectedAt: null,
      nextAttemptAt: null,
      inFlight: 0,
      latencyMs: null,
      ...this.details,
    };
  }

  isOnline(): boolean {
    return this.state === 'connected';
  }

  execute(tool: UpstreamTool, args: unknown, context: ToolContext): unknown {
    return this.execution(tool, args, context);
  }

  async restart(): Promise<void> {
    this.restarts += 1;
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

export function anUpstreamTool(given: Partial<UpstreamTool> & { readonly name: string }): UpstreamTool {
  return {
    description: 'does something',
    inputSchema: { type: 'object' },
    outputSchema: null,
    annotations: {},
    metadata: null,
    target: { tool: given.name },
    ...given,
  };
}
