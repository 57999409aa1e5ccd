import { basename } from 'node:path';
import type { UpstreamStateName } from '@patchboard/wire';
import { messageOf, ToolFailure } from '../../core/failures.ts';
import type { Limits } from '../../core/limits.ts';
import type { Clock, Schemas } from '../../core/ports.ts';
import type { ToolContext } from '../../core/tools/server-tool.ts';
import type {
  Upstream,
  UpstreamListener,
  UpstreamStatus,
  UpstreamTool,
} from '../../core/upstreams/upstream.ts';
import { guardedFetch, type GuardedFetch } from '../shared/guarded-fetch.ts';
import { LatencyWindow } from '../shared/latency-window.ts';
import type { SecretMask } from '../shared/secret-mask.ts';
import { OpenApiTokens } from './access-tokens.ts';
import { descriptionSource, type DescriptionSource } from './description-source.ts';
import { listApi, UnusableDescription } from './listed-api.ts';
import type { OpenApiSettings } from './openapi-settings.ts';
import { OperationCaller } from './operation-caller.ts';
import { DESCRIPTION_BYTES } from './read-description.ts';
import { configuredOrigins } from './server-url.ts';

export interface OpenApiUpstreamParts {
  readonly clock: Clock;
  readonly mask: SecretMask;
  readonly schemas: Schemas;
  readonly limits: Readonly<Limits>;
  /** For jitter: at least 0, below 1. */
  readonly random: () => number;
}

/** How often the description is read again. */
const REFRESH_MS = 600_000;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/**
 * An HTTP API with an OpenAPI description. It is `connected` once its description was read: requests need no connection
 * that lasts. If a later read fails, the tools stay and the error is in the status.
 */
export class OpenApiUpstream implements Upstream {
  readonly settings: OpenApiSettings;
  readonly #parts: OpenApiUpstreamParts;
  readonly #fetch: GuardedFetch;
  readonly #descriptionFetch: GuardedFetch;
  readonly #source: DescriptionSource;
  readonly #tokens: OpenApiTokens;
  readonly #caller: OperationCaller;
  readonly #latency: LatencyWindow = new LatencyWindow();
  readonly #closing: AbortController = new AbortController();
  #listener: UpstreamListener | null = null;
  #state: UpstreamStateName = 'connecting';
  #protocol: string | null = null;
  #server: UpstreamStatus['server'] = null;
  #address: string;
  #lastError: UpstreamStatus['lastError'] = null;
  /** Why requests cannot be sent although the description was read. */
  #serverProblem: UpstreamStatus['lastError'] = null;
  #connectedAt: number | null = null;
  #nextAttemptAt: number | null = null;
  #failures = 0;
  #inFlight = 0;
  #disarm: () => void = () => {};
  /** The read that runs: two never overlap. */
  #reading: Promise<void> = Promise.resolve();

  constructor(settings: OpenApiSettings, parts: OpenApiUpstreamParts) {
    this.settings = settings;
    this.#parts = parts;
    const allowedOrigins = configuredOrigins(settings);
    this.#fetch = guardedFetch({ allowedOrigins });
    this.#descriptionFetch = guardedFetch({ allowedOrigins, maxBodyBytes: DESCRIPTION_BYTES });
    this.#source = descriptionSource(settings, this.#descriptionFetch);
    this.#tokens = new OpenApiTokens(settings, { fetch: this.#fetch, clock: parts.clock, mask: parts.mask });
    const { clock, mask } = parts;
    const closing = this.#closing.signal;
    this.#caller = new OperationCaller({
      settings,
      fetch: this.#fetch,
      tokens: this.#tokens,
      clock,
      mask,
      closing,
    });
    this.#address = configuredAddress(settings);
  }

  start(listener: UpstreamListener): void {
    this.#listener = listener;
    this.#read(true);
  }

  status(): UpstreamStatus {
    return {
      state: this.#state,
      protocol: this.#protocol,
      server: this.#server,
      address: this.#address,
      lastError: this.#lastError ?? this.#serverProblem,
      connectedAt: this.#connectedAt,
      nextAttemptAt: this.#nextAttemptAt,
      inFlight: this.#inFlight,
      latencyMs: this.#latency.summary(),
    };
  }

  isOnline(): boolean {
    return this.#state === 'connected';
  }

  async execute(tool: UpstreamTool, args: unknown, context: ToolContext): Promise<unknown> {
    const { clock } = this.#parts;
    const startedAt = clock.elapsed();
    this.#inFlight += 1;
    try {
      return await this.#caller.call(tool, args, context);
    } catch (error) {
      // A failure without an outcome is a response that the API meant.
      if (error instanceof ToolFailure && error.failure.outcome !== undefined && !context.signal.aborted)
        this.#lastError = { message: error.failure.message, at: clock.now() };
      throw error;
    } finally {
      this.#inFlight -= 1;
      this.#latency.add(clock.elapsed() - startedAt);
    }
  }

  async restart(): Promise<void> {
    this.#failures = 0;
    this.#lastError = null;
    this.#caller.reset();
    this.#tokens.forgetAll();
    this.#read(true);
    await this.#reading;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the upstream was closed'));
    this.#disarm();
    await this.#reading;
    await Promise.all([this.#fetch.close(), this.#descriptionFetch.close()]);
    this.#tokens.forgetAll();
    this.#become('disconnected');
  }

  /** Reads the description after the read that runs. `isForced`: lists it even if it has not changed. */
  #read(isForced: boolean): void {
    this.#disarm();
    this.#reading = this.#reading.then(() => this.#readNow(isForced));
  }

  /** Never rejects. */
  async #readNow(isForced: boolean): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    this.#disarm();
    try {
      const text = await this.#source.read(isForced, signal);
      if (text !== null) await this.#list(text);
      this.#succeeded();
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    }
  }

  async #list(text: string): Promise<void> {
    const { schemas, limits, mask } = this.#parts;
    const { tools, rejected, protocol, server, address, serverProblem } = await listApi(text, this.settings, {
      schemas,
      limits,
      mask,
    });
    if (this.#closing.signal.aborted) return;
    this.#protocol = protocol;
    this.#server = server;
    this.#address = address ?? this.#address;
    this.#serverProblem =
      serverProblem === null ? null : { message: serverProblem, at: this.#parts.clock.now() };
    this.#listener?.listed(tools, rejected);
  }

  #succeeded(): void {
    if (this.#closing.signal.aborted) return;
    this.#failures = 0;
    if (this.#state !== 'connected') {
      this.#lastError = null;
      this.#connectedAt = this.#parts.clock.now();
    }
    this.#readAfter(REFRESH_MS);
    this.#nextAttemptAt = null;
    this.#become('connected');
  }

  #failed(error: unknown): void {
    const { clock, mask, random } = this.#parts;
    this.#lastError = { message: mask.text(messageOf(error)), at: clock.now() };
    if (this.#state === 'connected') {
      this.#readAfter(REFRESH_MS);
    } else if (error instanceof UnusableDescription) {
      // The same text would be refused again: an operator mends it and restarts the upstream.
      this.#nextAttemptAt = null;
      this.#become('failed');
    } else {
      const longest = Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS);
      const ms = longest * (0.5 + random() / 2);
      this.#failures += 1;
      this.#nextAttemptAt = clock.now() + ms;
      this.#readAfter(ms);
      this.#become('disconnected');
    }
  }

  #readAfter(ms: number): void {
    this.#disarm = this.#parts.clock.after(ms, () => this.#read(false));
  }

  #become(state: UpstreamStateName): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#listener?.stateChanged();
  }
}

function configuredAddress({ server, description }: OpenApiSettings): string {
  if (server !== null && URL.canParse(server)) return new URL(server).origin;
  return description.kind === 'url' ? new URL(description.url).origin : basename(description.path);
}
