import type { Clock } from '../../core/ports.ts';
import { ConnectionLost, type McpRequest, type McpResponse } from './mcp-connection.ts';
import type { McpSession } from './mcp-session.ts';
import type { McpUpstreamSettings } from './mcp-upstream-settings.ts';
import { HTTP_SESSIONS, SessionPool } from './session-pool.ts';
import { watchTools } from './tool-changes.ts';
import { readTools, type ToolListing } from './tool-listing.ts';
import { ToolRefresh } from './tool-refresh.ts';

export interface OpenSessionOptions {
  readonly settings: McpUpstreamSettings;
  readonly clock: Clock;
  /** Opens another session to the same server. */
  readonly openAnother: () => Promise<McpSession>;
  /** Replaces this connection by a new one. */
  readonly replace: (open: OpenSession) => void;
  readonly onListed: (listing: ToolListing) => void;
  readonly onFailed: (error: unknown) => void;
}

/** An established connection: its sessions, and the list of its tools. */
export class OpenSession {
  readonly #session: McpSession;
  readonly #options: OpenSessionOptions;
  /** Null: any number of requests share the session. */
  readonly #pool: SessionPool | null;
  #refresh: ToolRefresh | null = null;
  #stopWatching: () => void = () => {};

  constructor(session: McpSession, options: OpenSessionOptions) {
    const { settings, clock, openAnother: open, onFailed } = options;
    const replace = (): void => options.replace(this);
    this.#session = session;
    this.#options = options;
    const limit = settings.transport.kind === 'http' ? HTTP_SESSIONS : 1;
    this.#pool = session.mayReceiveRequests
      ? new SessionPool(session, { clock, limit, open, replace, onFailed })
      : null;
  }

  /** Begins to read the tools, now and whenever they change. */
  start(): void {
    const { clock, onListed, onFailed } = this.#options;
    const refresh = new ToolRefresh({ clock, read: (signal) => this.#read(signal), onListed, onFailed });
    this.#refresh = refresh;
    this.#stopWatching = watchTools(this.#session, clock, () => refresh.changed());
  }

  async request(request: McpRequest): Promise<McpResponse> {
    try {
      return await (this.#pool ?? this.#session).request(request);
    } catch (error) {
      // Shows whether the server is still there.
      if (error instanceof ConnectionLost) this.refreshTools();
      throw error;
    }
  }

  refreshTools(): void {
    this.#refresh?.changed();
  }

  /** Returns whether the connection is lost with this session. */
  isLostWith(session: McpSession): boolean {
    if (session === this.#session) return true;
    if (this.#pool?.remove(session) === true) session.retire().catch(this.#options.onFailed);
    return false;
  }

  /** Pending requests of a lost HTTP session may still get their responses: each has a stream of its own. */
  async retire(): Promise<void> {
    this.#stop();
    await Promise.all([this.#pool?.close((session) => session.retire()), this.#session.retire()]);
  }

  async close(): Promise<void> {
    this.#stop();
    await Promise.all([this.#pool?.close((session) => session.close()), this.#session.close()]);
  }

  #stop(): void {
    this.#refresh?.stop();
    this.#stopWatching();
  }

  async #read(signal: AbortSignal): Promise<ToolListing> {
    if (this.#session.client.getServerCapabilities()?.tools === undefined)
      return { tools: [], omitted: 0, isComplete: true, ttlMs: null };
    return await readTools(this.#session, signal);
  }
}
