import { StorageUnavailable } from '../failures.ts';
import type { Store } from '../ports.ts';
import type { Tasks } from '../tasks.ts';
import type { TimerWheel } from '../timer-wheel.ts';
import type { Device } from './device.ts';

/** A session that a device left at another node, or at this one before it was restarted. */
export interface EarlierSession {
  readonly session: string;
  readonly firstSession: string;
}

interface StoredSession extends EarlierSession {
  readonly tenant: string;
  readonly clientId: string;
}

/** How long a session outlives a node that is gone, if the session was not renewed meanwhile. */
const LIFETIME_MS = 24 * 3_600_000;
const RENEW_MS = LIFETIME_MS / 2;

/** The sessions of devices in the store, under the tokens to resume them with, so that a device may return to any node. */
export class DeviceSessions {
  readonly #parts: { readonly store: Store; readonly tasks: Tasks; readonly wheel: TimerWheel };
  /** Whether the session of each token that this node keeps has been stored. */
  readonly #stored: Map<string, Promise<boolean>> = new Map();

  constructor(parts: { readonly store: Store; readonly tasks: Tasks; readonly wheel: TimerWheel }) {
    this.#parts = parts;
  }

  /** Stores the session of a device until the returned function is called. */
  keep({ session, firstSession, tenant, clientId, resumeToken }: Device): () => void {
    const { store, tasks, wheel } = this.#parts;
    const { tokens } = store;
    if (tokens === undefined || resumeToken === null) return () => undefined;
    const value = JSON.stringify({ session, firstSession, tenant, clientId } satisfies StoredSession);
    let disarm = (): void => undefined;
    const put = (): void => {
      const before = this.#stored.get(resumeToken) ?? Promise.resolve(false);
      const putting = (async (): Promise<boolean> => {
        await tokens.put('device_session', resumeToken, value, LIFETIME_MS);
        return true;
      })();
      this.#stored.set(
        resumeToken,
        putting.catch(() => before),
      );
      tasks.start('device session', () => putting);
      disarm = wheel.after(RENEW_MS, put);
    };
    put();
    return () => {
      disarm();
      tasks.start('device session', async () => {
        // Otherwise it could be stored after it was removed.
        await this.#stored.get(resumeToken);
        this.#stored.delete(resumeToken);
        await tokens.spend('device_session', resumeToken);
      });
    };
  }

  /** Takes the session that the token names: of several nodes, one gets it. Null if there is none of this client. */
  async take(tenant: string, clientId: string, token: string): Promise<EarlierSession | null> {
    const text = (await this.#parts.store.tokens?.spend('device_session', token)) ?? null;
    if (text === null) return null;
    const stored = JSON.parse(text) as StoredSession;
    return stored.tenant === tenant && stored.clientId === clientId ? stored : null;
  }

  /** Undoes `take` and `takeOwn`. */
  async putBack(token: string, session: StoredSession): Promise<void> {
    await this.#parts.store.tokens?.put('device_session', token, JSON.stringify(session), LIFETIME_MS);
  }

  /** As `take`, for a session that this node keeps. Returns false if another node has taken it. */
  async takeOwn(token: string): Promise<boolean> {
    const { tokens } = this.#parts.store;
    // No other node can know it.
    if (tokens === undefined || !((await this.#stored.get(token)) ?? false)) return true;
    try {
      return (await tokens.spend('device_session', token)) !== null;
    } catch (error) {
      // Its calls wait for the device here, whether the database can be reached or not.
      if (error instanceof StorageUnavailable) return true;
      throw error;
    }
  }
}
