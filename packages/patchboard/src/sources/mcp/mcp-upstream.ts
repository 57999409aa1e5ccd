import type { Clock } from '../../core/ports.ts';
import type { ToolContext } from '../../core/tools/server-tool.ts';
import type {
  Upstream,
  UpstreamListener,
  UpstreamStatus,
  UpstreamTool,
} from '../../core/upstreams/upstream.ts';
import { LatencyWindow } from '../shared/latency-window.ts';
import type { SecretMask } from '../shared/secret-mask.ts';
import type { McpConnection } from './mcp-connection.ts';
import type { McpUpstreamSettings } from './mcp-upstream-settings.ts';
import { readToolList } from './tool-specs.ts';
import { callUpstream, type UpstreamCallParts } from './upstream-call.ts';
import { carriedInput } from './upstream-inputs.ts';
import { cancelTask } from './upstream-task.ts';

export interface McpUpstreamParts {
  readonly connection: McpConnection;
  readonly clock: Clock;
  readonly mask: SecretMask;
  /** The id of this server, as `patchboard/instance` declares it. */
  readonly instanceId: string;
  /** Called after the connection is closed. */
  readonly release?: () => Promise<void>;
}

/** An upstream MCP server. Everything that comes from it passes the mask. */
export class McpUpstream implements Upstream {
  readonly settings: McpUpstreamSettings;
  readonly #connection: McpConnection;
  readonly #parts: UpstreamCallParts;
  readonly #clock: Clock;
  readonly #instanceId: string;
  readonly #release: McpUpstreamParts['release'];
  readonly #latency = new LatencyWindow();
  #inFlight = 0;

  constructor(
    settings: McpUpstreamSettings,
    { connection, clock, mask, instanceId, release }: McpUpstreamParts,
  ) {
    this.settings = settings;
    this.#connection = connection;
    this.#clock = clock;
    this.#instanceId = instanceId;
    this.#release = release;
    this.#parts = { settings, connection, clock, mask };
  }

  start(listener: UpstreamListener): void {
    this.#connection.start({
      toolsListed: (list) => {
        const { tools, rejected } = readToolList(this.settings, list, {
          era: this.#connection.era,
          mask: this.#parts.mask,
          instanceId: this.#instanceId,
        });
        listener.listed(tools, rejected);
      },
      stateChanged: () => listener.stateChanged(),
    });
  }

  status(): UpstreamStatus {
    return { ...this.#connection.status(), inFlight: this.#inFlight, latencyMs: this.#latency.summary() };
  }

  isOnline(): boolean {
    return this.#connection.isOnline;
  }

  async execute(tool: UpstreamTool, args: unknown, context: ToolContext): Promise<unknown> {
    const startedAt = this.#clock.elapsed();
    this.#inFlight += 1;
    try {
      return await callUpstream(this.#parts, tool, args, context);
    } finally {
      this.#inFlight -= 1;
      this.#latency.add(this.#clock.elapsed() - startedAt);
    }
  }

  /** Cancels the task of a call that waited for the input of its caller. */
  abandoned(carried: unknown): void {
    const task = carriedInput({ carried })?.task;
    if (task !== undefined) cancelTask(this.#connection, task);
  }

  async restart(): Promise<void> {
    await this.#connection.restart();
  }

  async close(): Promise<void> {
    await this.#connection.close();
    await this.#release?.();
  }
}
