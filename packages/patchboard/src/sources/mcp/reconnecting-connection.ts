import { ConnectionState } from './connection-state.ts';
import {
  NotStarted,
  type McpConnection,
  type McpConnectionListener,
  type McpConnectionStatus,
  type McpRequest,
  type McpResponse,
} from './mcp-connection.ts';
import type { McpSession } from './mcp-session.ts';
import type { McpUpstreamSettings } from './mcp-upstream-settings.ts';
import { OnlineWaiters } from './online-waiters.ts';
import { OpenSession } from './open-session.ts';
import { ReconnectPolicy } from './reconnect-policy.ts';
import type { SessionOpener } from './session-opener.ts';
import type { McpConnectionParts } from './session-transport.ts';

/** Requests cause an attempt at most this often. */
const ATTEMPT_EVERY_MS = 500;

/** The connection to an upstream MCP server: it connects in the background, and again with back-off when it is lost. */
export class ReconnectingConnection implements McpConnection {
  readonly #settings: McpUpstreamSettings;
  readonly #parts: McpConnectionParts;
  readonly #policy: ReconnectPolicy;
  readonly #state: ConnectionState;
  readonly #waiters: OnlineWaiters<OpenSession>;
  #opener: SessionOpener | null = null;
  #open: OpenSession | null = null;
  /** Aborted by `restart` and `close`. */
  #life = new AbortController();
  #attempt: Promise<void> | null = null;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #cancelTimer: () => void = () => {};
  /** The restart that runs: two would connect twice. */
  #restarting: Promise<void> | null = null;
  #isClosed = false;

  constructor(settings: McpUpstreamSettings, parts: McpConnectionParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#policy = new ReconnectPolicy(parts.clock, parts.random);
    this.#state = new ConnectionState(settings, parts);
    this.#waiters = new OnlineWaiters(parts.clock);
  }

  get era(): McpConnection['era'] {
    return this.#state.era;
  }

  get isOnline(): boolean {
    return this.#open !== null;
  }

  start(listener: McpConnectionListener): void {
    this.#state.listener = listener;
    this.#connect();
  }

  async request(request: McpRequest): Promise<McpResponse> {
    request.signal.throwIfAborted();
    const open = this.#open ?? (await this.#online(request.signal));
    return await open.request(request);
  }

  refreshTools(): void {
    this.#open?.refreshTools();
  }

  status(): McpConnectionStatus {
    return this.#state.status();
  }

  async restart(): Promise<void> {
    this.#restarting ??= this.#restart().finally(() => (this.#restarting = null));
    await this.#restarting;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#end('the connection is closed', false), this.#restarting]);
    this.#state.closed();
  }

  async #restart(): Promise<void> {
    await this.#end('the connection is restarted', true);
    if (this.#isClosed) return;
    this.#policy.reset();
    this.#opener?.forget();
    this.#life = new AbortController();
    this.#state.connecting();
    this.#connect();
  }

  /** `mayRetry`: whether requests that were not sent may be sent again, over another connection. */
  async #end(why: string, mayRetry: boolean): Promise<void> {
    const error = new NotStarted(why, { mayRetry });
    this.#life.abort(error);
    this.#cancelTimer();
    this.#state.nextAttemptAt = null;
    this.#waiters.reject(error);
    const open = this.#open;
    this.#open = null;
    await Promise.all([open?.close(), this.#attempt]);
  }

  async #online(signal: AbortSignal): Promise<OpenSession> {
    this.#life.signal.throwIfAborted();
    if (this.#state.name === 'failed') throw new NotStarted(this.#state.lastError, { mayRetry: false });
    const since = this.#parts.clock.elapsed() - this.#attemptedAt;
    if (this.#attempt === null) this.#schedule(Math.max(0, ATTEMPT_EVERY_MS - since));
    return await this.#waiters.wait(signal, () => this.#state.lastError);
  }

  #schedule(ms: number): void {
    this.#cancelTimer();
    if (ms === 0) return this.#connect();
    this.#state.nextAttemptAt = this.#parts.clock.now() + ms;
    this.#cancelTimer = this.#parts.clock.after(ms, () => this.#connect());
  }

  #connect(): void {
    this.#cancelTimer();
    this.#state.nextAttemptAt = null;
    this.#attemptedAt = this.#parts.clock.elapsed();
    this.#attempt = this.#tryToConnect(this.#life.signal);
  }

  async #tryToConnect(life: AbortSignal): Promise<void> {
    try {
      this.#opener ??= await this.#load();
      const session = await this.#opener.open(life);
      this.#attempt = null;
      if (life.aborted) await session.close();
      else await this.#adopt(session, this.#opener, life);
    } catch (error) {
      this.#attempt = null;
      if (!life.aborted) this.#failedToConnect(error);
    }
  }

  /** The SDK is loaded with the first attempt: loading it takes longer than the rest of the start. */
  async #load(): Promise<SessionOpener> {
    const { SessionOpener: Opener } = await import('./session-opener.ts');
    return new Opener({
      settings: this.#settings,
      parts: this.#parts,
      onLost: (session, error) => this.#lost(session, error),
    });
  }

  async #adopt(session: McpSession, opener: SessionOpener, life: AbortSignal): Promise<void> {
    if (session.instance === this.#parts.instanceId) {
      this.#giveUp('the upstream is this server itself; change its address or remove it');
      return await session.close();
    }
    this.#policy.succeeded();
    const open = new OpenSession(session, {
      settings: this.#settings,
      clock: this.#parts.clock,
      openAnother: () => opener.open(life),
      replace: (replaced) => this.#replace(replaced, life),
      onListed: (listing) => this.#state.listed(listing),
      onFailed: (error) => this.#state.report(error),
    });
    this.#open = open;
    this.#state.connected(session);
    this.#waiters.resolve(open);
    open.start();
  }

  /** The new session is opened after the old one has ended: two processes of one command may not run at once. */
  #replace(open: OpenSession, life: AbortSignal): void {
    if (this.#open !== open) return;
    this.#open = null;
    this.#state.connecting();
    this.#attempt = open
      .close()
      .catch((error: unknown) => this.#state.report(error))
      .then(() => this.#tryToConnect(life));
  }

  #lost(session: McpSession, error: Error): void {
    const open = this.#open;
    if (open === null || !open.isLostWith(session)) return;
    this.#open = null;
    open.retire().catch((problem: unknown) => this.#state.report(problem));
    this.#again(error);
  }

  #failedToConnect(error: unknown): void {
    const { cause } = error as Error;
    const isUnstartable = cause instanceof Error && 'syscall' in cause;
    this.#again(error, isUnstartable);
  }

  #again(error: unknown, isUnstartable = false): void {
    this.#state.disconnected(error);
    const isProcess = this.#settings.transport.kind === 'stdio' && !isUnstartable;
    if (isProcess && !this.#policy.mayRestart())
      return this.#giveUp(`the process ended too often within a minute: ${this.#state.lastError}`);
    const delay = this.#policy.nextDelayMs();
    this.#schedule(delay);
    const mayRetry = !(error instanceof NotStarted) || error.mayRetry;
    this.#waiters.attemptFailed(new NotStarted(this.#state.lastError, { mayRetry }), delay);
  }

  #giveUp(why: string): void {
    this.#state.failed(why);
    this.#waiters.reject(new NotStarted(this.#state.lastError, { mayRetry: false }));
  }
}
