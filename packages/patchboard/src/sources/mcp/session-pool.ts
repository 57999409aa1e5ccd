import type { Clock } from '../../core/ports.ts';
import { NotStarted, type McpRequest, type McpResponse } from './mcp-connection.ts';
import type { McpSession } from './mcp-session.ts';
import { ServerRequestRefused } from './intercepting-transport.ts';

/** The most sessions that one upstream has over HTTP. A process is one session. */
export const HTTP_SESSIONS = 4;
/** A session that was opened besides the first one is closed when it was idle for so long. */
const IDLE_MS = 60_000;

interface PooledSession {
  readonly session: McpSession;
  users: number;
  /** The one user responds to requests of the server. */
  isExclusive: boolean;
  /** Requests that ended without a response, as cancelled ones do. The server may still send requests for them. */
  unanswered: number;
  /** A request of the server was refused, because it may be for an unanswered one. */
  hasRefused: boolean;
  cancelIdle: () => void;
}

interface Waiter {
  readonly isExclusive: boolean;
  readonly grant: (pooled: PooledSession) => void;
  readonly reject: (error: unknown) => void;
}

export interface SessionPoolOptions {
  readonly clock: Clock;
  readonly limit: number;
  /** Opens another session to the same server. */
  readonly open: () => Promise<McpSession>;
  /** Replaces the first session, and this pool with it. */
  readonly replace: () => void;
  readonly onFailed: (error: unknown) => void;
}

/**
 * The sessions to a server of the older protocol versions, whose own requests name no call: a request that responds to them has a
 * session to itself, the others share one. First come, first served. The first session with room is used, so that requests one after
 * the other stay in one session.
 *
 * In a session with unanswered requests it is unknown which call a request of the server is for. Such a session is used only if there
 * is no other, and refuses requests of the server; after a refusal it is replaced.
 */
export class SessionPool {
  readonly #options: SessionPoolOptions;
  readonly #sessions: PooledSession[];
  #queue: Waiter[] = [];
  #isOpening = false;
  #hasFailedToOpen = false;

  constructor(primary: McpSession, options: SessionPoolOptions) {
    this.#options = options;
    this.#sessions = [pooledSession(primary)];
  }

  async request(request: McpRequest): Promise<McpResponse> {
    const pooled = await this.#acquire(request);
    const { onServerRequest } = request;
    try {
      return await pooled.session.request({
        ...request,
        ...(onServerRequest === undefined ? {} : { onServerRequest: unambiguous(pooled, onServerRequest) }),
        onLateResponse: () => void (pooled.unanswered -= 1),
      });
    } catch (error) {
      if (!(error instanceof NotStarted)) pooled.unanswered += 1;
      throw error;
    } finally {
      this.#release(pooled);
    }
  }

  /** Removes a session that was lost. Returns false if it is the first one, or not one of these. */
  remove(session: McpSession): boolean {
    const index = this.#sessions.findIndex((pooled) => pooled.session === session);
    if (index <= 0) return false;
    this.#sessions.splice(index, 1)[0]?.cancelIdle();
    this.#grant();
    return true;
  }

  /** Rejects the requests that wait, and ends all sessions but the first one by `end`. */
  async close(end: (session: McpSession) => Promise<void>): Promise<void> {
    const error = new NotStarted('the connection was lost before the request was sent', { mayRetry: true });
    for (const { reject } of this.#queue.splice(0)) reject(error);
    const others = this.#sessions.splice(1);
    for (const { cancelIdle } of others) cancelIdle();
    await Promise.all(others.map(({ session }) => end(session)));
  }

  #acquire({ onServerRequest, signal }: McpRequest): Promise<PooledSession> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#queue = this.#queue.filter((other) => other !== waiter);
        waiter.reject(signal.reason);
        this.#grant();
      };
      const settled = (): void => signal.removeEventListener('abort', onAbort);
      const waiter: Waiter = {
        isExclusive: onServerRequest !== undefined,
        grant: (pooled) => (settled(), resolve(pooled)),
        reject: (error) => (settled(), reject(error as Error)),
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(waiter);
      this.#grant();
    });
  }

  #grant(): void {
    for (let [head] = this.#queue; head !== undefined; [head] = this.#queue) {
      const { isExclusive, grant } = head;
      const pooled = isExclusive ? this.#idleSession() : this.#sessions.find((one) => !one.isExclusive);
      if (pooled === undefined) return this.#openAnother();
      this.#queue.shift();
      pooled.cancelIdle();
      pooled.users += 1;
      pooled.isExclusive = isExclusive;
      grant(pooled);
    }
  }

  /** One without unanswered requests, if there is one or another session can be opened. */
  #idleSession(): PooledSession | undefined {
    const idle = this.#sessions.filter(({ users }) => users === 0);
    const clean = idle.find(({ unanswered }) => unanswered === 0);
    const mayOpen = this.#sessions.length < this.#options.limit && !this.#hasFailedToOpen;
    return clean ?? (mayOpen ? undefined : idle[0]);
  }

  #release(pooled: PooledSession): void {
    pooled.users -= 1;
    pooled.isExclusive = false;
    if (pooled.users === 0 && pooled !== this.#sessions[0] && pooled.unanswered > 0) this.#end(pooled);
    // All sessions end then, so it waits until none is used.
    if (this.#sessions[0]?.hasRefused === true && this.#sessions.every(({ users }) => users === 0))
      return this.#options.replace();
    this.#grant();
    if (pooled.users > 0 || this.#sessions.indexOf(pooled) <= 0) return;
    pooled.cancelIdle = this.#options.clock.after(IDLE_MS, () => this.#end(pooled));
  }

  #end({ session }: PooledSession): void {
    if (this.remove(session)) session.close().catch(this.#options.onFailed);
  }

  /** Without success the requests wait for a session that is open. */
  #openAnother(): void {
    if (this.#isOpening || this.#sessions.length >= this.#options.limit) return;
    this.#isOpening = true;
    this.#options.open().then(
      (session) => {
        this.#isOpening = false;
        this.#hasFailedToOpen = false;
        if (this.#queue.length === 0) return void session.close().catch(this.#options.onFailed);
        this.#sessions.push(pooledSession(session));
        this.#grant();
      },
      (error: unknown) => {
        this.#isOpening = false;
        this.#hasFailedToOpen = true;
        this.#options.onFailed(error);
        if (this.#idleSession() !== undefined) this.#grant();
      },
    );
  }
}

function pooledSession(session: McpSession): PooledSession {
  return { session, users: 0, isExclusive: false, unanswered: 0, hasRefused: false, cancelIdle: () => {} };
}

type ServerRequestHandler = NonNullable<McpRequest['onServerRequest']>;

/** Refuses a request of the server that may be for an unanswered request of an earlier caller. */
function unambiguous(pooled: PooledSession, handler: ServerRequestHandler): ServerRequestHandler {
  return (method, params) => {
    if (pooled.unanswered === 0) return handler(method, params);
    pooled.hasRefused = true;
    const why = 'This request may be for a call that was cancelled, so no caller can respond to it.';
    return Promise.reject(new ServerRequestRefused(why));
  };
}
