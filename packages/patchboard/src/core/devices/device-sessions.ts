import type { MaybePromise } from '../maybe-promise.ts';
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
    let kept: MaybePromise<unknown>;
    const put = (): void => {
      tasks.start(
        'device session',
        () => (kept = tokens.put('device_session', resumeToken, value, LIFETIME_MS)),
      );
      disarm = wheel.after(RENEW_MS, put);
    };
    put();
    return () => {
      disarm();
      tasks.start('device session', async () => {
        // Otherwise it could be stored after it was removed.
        await kept;
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
}
