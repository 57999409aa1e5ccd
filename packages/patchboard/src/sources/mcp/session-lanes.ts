import type { Clock } from '../../core/ports.ts';
import { NotStarted, type McpRequest, type McpResponse } from './mcp-connection.ts';
import type { McpSession } from './mcp-session.ts';

/** The most sessions that one upstream has over HTTP. A process is one session. */
export const HTTP_SESSIONS = 4;
/** A session that was opened besides the first one is closed when it was idle for so long. */
const IDLE_MS = 60_000;

interface Lane {
  readonly session: McpSession;
  users: number;
  /** The one user responds to requests of the server. */
  isExclusive: boolean;
  cancelIdle: () => void;
}

interface Waiter {
  readonly isExclusive: boolean;
  readonly grant: (lane: Lane) => void;
  readonly reject: (error: unknown) => void;
}

export interface SessionLanesOptions {
  readonly clock: Clock;
  readonly limit: number;
  /** Opens another session to the same server. */
  readonly open: () => Promise<McpSession>;
  readonly onFailed: (error: unknown) => void;
}

/**
 * The sessions to a server of the older protocol versions, whose own requests name no call: a request that responds to them has a
 * session to itself, the others share one. First come, first served. The first session with room is used, so that requests one after
 * the other stay in one session.
 */
export class SessionLanes {
  readonly #options: SessionLanesOptions;
  readonly #lanes: Lane[];
  #queue: Waiter[] = [];
  #isOpening = false;

  constructor(primary: McpSession, options: SessionLanesOptions) {
    this.#options = options;
    this.#lanes = [laneOf(primary)];
  }

  async request(request: McpRequest): Promise<McpResponse> {
    const lane = await this.#acquire(request);
    try {
      return await lane.session.request(request);
    } finally {
      this.#release(lane);
    }
  }

  /** Removes a session that was lost. Returns false if it is the first one, or not one of these. */
  remove(session: McpSession): boolean {
    const index = this.#lanes.findIndex((lane) => lane.session === session);
    if (index <= 0) return false;
    this.#lanes.splice(index, 1)[0]?.cancelIdle();
    this.#grant();
    return true;
  }

  /** Rejects the requests that wait, and ends all sessions but the first one by `end`. */
  async close(end: (session: McpSession) => Promise<void>): Promise<void> {
    const error = new NotStarted('the connection was lost before the request was sent', { mayRetry: true });
    for (const { reject } of this.#queue.splice(0)) reject(error);
    const others = this.#lanes.splice(1);
    for (const { cancelIdle } of others) cancelIdle();
    await Promise.all(others.map(({ session }) => end(session)));
  }

  #acquire({ onServerRequest, signal }: McpRequest): Promise<Lane> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#queue = this.#queue.filter((other) => other !== waiter);
        waiter.reject(signal.reason);
        this.#grant();
      };
      const settled = (): void => signal.removeEventListener('abort', onAbort);
      const waiter: Waiter = {
        isExclusive: onServerRequest !== undefined,
        grant: (lane) => (settled(), resolve(lane)),
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
      const lane = this.#lanes.find((one) => (isExclusive ? one.users === 0 : !one.isExclusive));
      if (lane === undefined) return this.#openAnother();
      this.#queue.shift();
      lane.cancelIdle();
      lane.users += 1;
      lane.isExclusive = isExclusive;
      grant(lane);
    }
  }

  #release(lane: Lane): void {
    lane.users -= 1;
    lane.isExclusive = false;
    this.#grant();
    if (lane.users > 0 || this.#lanes.indexOf(lane) <= 0) return;
    lane.cancelIdle = this.#options.clock.after(IDLE_MS, () => {
      this.remove(lane.session);
      lane.session.close().catch(this.#options.onFailed);
    });
  }

  /** Without success the requests wait for a session that is open. */
  #openAnother(): void {
    if (this.#isOpening || this.#lanes.length >= this.#options.limit) return;
    this.#isOpening = true;
    this.#options.open().then(
      (session) => {
        this.#isOpening = false;
        if (this.#queue.length === 0) return void session.close().catch(this.#options.onFailed);
        this.#lanes.push(laneOf(session));
        this.#grant();
      },
      (error: unknown) => {
        this.#isOpening = false;
        this.#options.onFailed(error);
      },
    );
  }
}

function laneOf(session: McpSession): Lane {
  return { session, users: 0, isExclusive: false, cancelIdle: () => {} };
}
