import type { Clock } from '../../core/ports.ts';
import { NotStarted } from './mcp-connection.ts';
import { McpSession, type SessionOptions } from './mcp-session.ts';

/** How long a server counts as one of the older protocol versions before it is probed again. */
const ERA_KEPT_MS = 86_400_000;

/** The command does not exist or must not be executed: a second attempt with another handshake cannot succeed. */
const UNSTARTABLE = /^(ENOENT|EACCES|EPERM|ENOTDIR|E2BIG)$/;

export type OpenerOptions = Omit<SessionOptions, 'isLegacy' | 'signal'>;

/**
 * Opens sessions in the era of the server. With `protocol: auto` it is probed by `server/discover`. Some programs end at a
 * request before `initialize`, so that a second process is started then, without the probe. That a server is of the older
 * versions is kept for a day; a newer one is probed each time, which costs nothing: the probe is its handshake.
 */
export class SessionOpener {
  readonly #options: OpenerOptions;
  readonly #clock: Clock;
  #legacySince: number | null = null;

  constructor(options: OpenerOptions) {
    this.#options = options;
    this.#clock = options.parts.clock;
  }

  async open(signal: AbortSignal): Promise<McpSession> {
    const { protocol, transport } = this.#options.settings;
    if (protocol === 'legacy' || this.#isKnownLegacy()) return this.#openAs(true, signal);
    if (protocol !== 'auto' || transport.kind === 'http')
      return this.#keep(await this.#openAs(false, signal));
    return this.#keep(await this.#openProcess(signal));
  }

  /** The server may have been replaced: it is probed at the next attempt. */
  forget(): void {
    this.#legacySince = null;
  }

  async #openProcess(signal: AbortSignal): Promise<McpSession> {
    try {
      return await this.#openAs(false, signal);
    } catch (error) {
      const cause =
        error instanceof NotStarted ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
      if (signal.aborted || UNSTARTABLE.test(cause?.code ?? '')) throw error;
      return await this.#openAs(true, signal);
    }
  }

  #openAs(isLegacy: boolean, signal: AbortSignal): Promise<McpSession> {
    return McpSession.open({ ...this.#options, isLegacy, signal });
  }

  #isKnownLegacy(): boolean {
    return this.#legacySince !== null && this.#clock.elapsed() - this.#legacySince < ERA_KEPT_MS;
  }

  #keep(session: McpSession): McpSession {
    this.#legacySince = session.era === 'legacy' ? this.#clock.elapsed() : null;
    return session;
  }
}
