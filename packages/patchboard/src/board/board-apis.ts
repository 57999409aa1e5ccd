import { reason } from '@patchboard/wire';
import { failure } from '../core/failures.ts';
import { newOperatorToken } from '../identity/operator-token.ts';
import { BoardError } from '../sdk/board-error.ts';
import { openApis, type ListeningApis } from '../wiring/apis.ts';
import { startIndexing } from '../wiring/call-indexing.ts';
import type { EngineContext } from '../wiring/engine-context.ts';
import { httpSettings, mountApis, type HttpOptions, type MountedApis } from '../wiring/mounted-apis.ts';
import { operatorTokenIn } from '../wiring/operator-token-in.ts';

export interface BoardApisOptions {
  /** Holds the operator token; null: the token is random and never shown, and operators use keys. */
  readonly folder: string | null;
  readonly allowsLocalMode: boolean;
  readonly http: HttpOptions;
}

/** The network APIs of a board: its own server, and handlers for another server. Both are created on demand. */
export class BoardApis {
  readonly #context: EngineContext;
  readonly #options: BoardApisOptions;
  /** Set as soon as `listen` is called, so that a second call fails and `close` can wait for it. */
  #listening: Promise<ListeningApis> | null = null;
  #mounted: MountedApis | null = null;
  #operatorToken: Promise<string> | null = null;
  #stopIndexing: (() => Promise<void>) | null = null;

  constructor(context: EngineContext, options: BoardApisOptions) {
    this.#context = context;
    this.#options = options;
  }

  async listen({
    port = 8080,
    host = '127.0.0.1',
  }: { readonly port?: number; readonly host?: string } = {}): Promise<ListeningApis> {
    if (this.#listening !== null) throw new BoardError(failure('conflict', reason('board_listening')));
    const opening = this.#open(host, port);
    const forget = (): void => {
      if (this.#listening === opening) this.#listening = null;
    };
    this.#listening = opening;
    try {
      const apis = await opening;
      this.#startIndexing();
      return { ...apis, close: () => apis.close().finally(forget) };
    } catch (error) {
      forget();
      throw error;
    }
  }

  mounted(): MountedApis {
    // A mounted board has a random operator token that is never shown: its operators use keys.
    this.#startIndexing();
    this.#mounted ??= mountApis(this.#context, this.#options.http, newOperatorToken());
    return this.#mounted;
  }

  async close(): Promise<void> {
    const apis = await this.#listening?.catch(() => null);
    await apis?.close();
    await this.#mounted?.close();
    await this.#stopIndexing?.();
  }

  /** Only requests search calls: a board without APIs has no index. */
  #startIndexing(): void {
    this.#stopIndexing ??= startIndexing(this.#context, null);
  }

  async #open(host: string, port: number): Promise<ListeningApis> {
    const { http, allowsLocalMode } = this.#options;
    const operatorTokens = [await this.#ownToken()];
    const settings = { ...httpSettings(http), isProduction: false, operatorTokens, allowsLocalMode };
    return await openApis(this.#context, { ...settings, host, port });
  }

  async #ownToken(): Promise<string> {
    const { folder } = this.#options;
    this.#operatorToken ??=
      folder === null ? Promise.resolve(newOperatorToken()) : operatorTokenIn(folder, this.#context.log);
    return await this.#operatorToken;
  }
}
