import { reason } from '@patchboard/wire';
import { failure, messageOf, ToolFailure } from '../../core/failures.ts';
import type { Clock } from '../../core/ports.ts';
import type { ToolContext } from '../../core/tools/server-tool.ts';
import type { UpstreamTool } from '../../core/upstreams/upstream.ts';
import { VERSION } from '../../version.ts';
import {
  AddressNotAllowed,
  BodyTooLarge,
  CouldNotConnect,
  isBeforeSend,
  RedirectFailed,
} from '../shared/fetch-errors.ts';
import { pause } from '../shared/pause.ts';
import type { SecretMask } from '../shared/secret-mask.ts';
import { buildRequest, type BuiltRequest } from './build-request.ts';
import { isHeaderValue } from './header-parameters.ts';
import type { OpenApiSettings } from './openapi-settings.ts';
import type { Operation } from './operation.ts';
import { isJsonMediaType } from './parameter-values.ts';
import { readResponse, RESPONSE_BYTES } from './read-response.ts';
import { responseFailure } from './response-failure.ts';
import { RetryAfter, retryAfterMs } from './retry-after.ts';
import { credentialsFor, type SchemeTokens, type Credentials } from './security.ts';
import { serverUrl } from './server-url.ts';

export interface OperationCallerParts {
  readonly settings: OpenApiSettings;
  /** Connects to the configured origins and to public addresses only. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly tokens: RenewableTokens;
  readonly clock: Clock;
  readonly mask: SecretMask;
  /** Aborted when the upstream is closed: a call that waits to send its request sends none. Absent: it never is. */
  readonly closing?: AbortSignal;
}

export interface RenewableTokens extends SchemeTokens {
  /** Forgets a token that was refused, so that the next one is new. */
  forget(scheme: string, token: string): void;
}

/** How often a request that was certainly not processed is sent again, for tools that the engine does not retry. */
const REPEATS = 2;
const REPEAT_PAUSE_MS = 250;

/** Calls operations: one request for each attempt of a call. */
export class OperationCaller {
  readonly #parts: OperationCallerParts;
  readonly #retryAfter: RetryAfter;

  constructor(parts: OperationCallerParts) {
    this.#parts = parts;
    this.#retryAfter = new RetryAfter(parts.clock);
  }

  /** Forgets what servers said about when to send again. */
  reset(): void {
    this.#retryAfter.clear();
  }

  /** Returns the result. Throws `ToolFailure`. */
  async call(tool: UpstreamTool, args: unknown, context: ToolContext): Promise<unknown> {
    const operation = tool.target as Operation;
    const { clock } = this.#parts;
    for (let repeat = 0; ; repeat += 1) {
      await this.#retryAfter.wait(operation, context, (ms) => this.#pause(operation, ms, context));
      try {
        return await this.#callOnce(tool, operation, args, context);
      } catch (error) {
        context.signal.throwIfAborted();
        // The engine retries idempotent tools.
        if (isIdempotent(tool) || repeat === REPEATS || !isWorthRepeating(error)) throw error;
        const ms = REPEAT_PAUSE_MS * 2 ** repeat;
        if (clock.now() + ms >= context.deadlineAt) throw error;
        await this.#pause(operation, ms, context);
      }
    }
  }

  /** Throws `ToolFailure`, not started, if the upstream is closed meanwhile. */
  async #pause(operation: Operation, ms: number, { signal }: ToolContext): Promise<void> {
    const { clock, closing = signal, settings } = this.#parts;
    try {
      await pause(clock, ms, AbortSignal.any([signal, closing]));
    } catch {
      signal.throwIfAborted();
      const { origin } = serverUrl(settings, operation);
      throw this.#failureOf(operation, new CouldNotConnect(origin, closing.reason));
    }
  }

  async #callOnce(
    tool: UpstreamTool,
    operation: Operation,
    args: unknown,
    context: ToolContext,
  ): Promise<unknown> {
    const { settings, mask, tokens, clock } = this.#parts;
    const server = serverUrl(settings, operation);
    let credentials = await this.#credentials(operation, context);
    let request = this.#request(operation, args, server, credentials);
    let response = await this.#send(operation, request, context);
    if ((response.status === 401 || response.status === 403) && credentials.tokens.length > 0) {
      // The token may have been revoked: the server refused the request, so that it may be sent again.
      await response.body?.cancel();
      for (const { scheme, token } of credentials.tokens) tokens.forget(scheme, token);
      credentials = await this.#credentials(operation, context);
      request = this.#request(operation, args, server, credentials);
      response = await this.#send(operation, request, context);
    }
    if (response.status === 429 || response.status === 503) {
      const ms = retryAfterMs(response.headers.get('retry-after'), clock.now());
      if (ms !== null) this.#retryAfter.note(operation, ms);
    }
    if (!response.ok) throw await responseFailure(operation, response, mask, isIdempotent(tool));
    try {
      return await readResponse(response, {
        url: request.url,
        mask,
        expectsJson: tool.outputSchema !== null,
      });
    } catch (error) {
      throw this.#failureOf(operation, error);
    }
  }

  async #credentials(operation: Operation, { signal }: ToolContext): Promise<Credentials> {
    const { settings, tokens } = this.#parts;
    return await credentialsFor(operation, settings, tokens, signal);
  }

  #request(operation: Operation, args: unknown, server: URL, { additions }: Credentials): BuiltRequest {
    const headers = { ...this.#parts.settings.headers, ...additions.headers };
    return buildRequest(operation, args, server, { ...additions, headers });
  }

  async #send(operation: Operation, request: BuiltRequest, context: ToolContext): Promise<Response> {
    const { method, url, body } = request;
    const isSafe = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
    const headers = {
      accept: acceptOf(operation),
      'user-agent': `patchboard/${VERSION}`,
      ...(isSafe ? {} : { 'idempotency-key': context.idempotencyKey }),
      ...(context.traceparent === null ? {} : { traceparent: context.traceparent }),
      ...request.headers,
    };
    try {
      // A redirect of another method would repeat the request, or replace it by a GET.
      const redirect = isSafe ? 'follow' : 'manual';
      return await this.#parts.fetch(url, { method, headers, body, redirect, signal: context.signal });
    } catch (error) {
      context.signal.throwIfAborted();
      throw this.#failureOf(operation, error);
    }
  }

  /** What a request or its response threw, as a failure. */
  #failureOf({ method, path }: Operation, error: unknown): ToolFailure {
    if (error instanceof ToolFailure) return error;
    const { mask, settings } = this.#parts;
    if (error instanceof BodyTooLarge) {
      const why = reason('openapi_response_too_large', { method, path, bytes: RESPONSE_BYTES });
      return new ToolFailure(failure('result_too_large', why, { outcome: 'unknown' }));
    }
    const message = mask.text(messageOf(error));
    if (error instanceof AddressNotAllowed) {
      const why = reason('openapi_server_private', {
        error: message,
        key: `openapi.${settings.name}.server`,
      });
      return new ToolFailure(failure('tool_failed', why, { outcome: 'not_started' }));
    }
    const why = { method, path, error: message };
    if (error instanceof RedirectFailed)
      return new ToolFailure(
        failure('tool_failed', reason('openapi_no_response', why), { outcome: 'unknown' }),
      );
    return new ToolFailure(
      isBeforeSend(error)
        ? failure('upstream_unreachable', reason('openapi_not_sent', why), { outcome: 'not_started' })
        : failure('provider_disconnected', reason('openapi_no_response', why), { outcome: 'unknown' }),
    );
  }
}

function isIdempotent({ annotations }: UpstreamTool): boolean {
  return annotations.idempotent === true;
}

/** Whether the request was certainly not processed, and may succeed later. */
function isWorthRepeating(error: unknown): boolean {
  if (!(error instanceof ToolFailure)) return false;
  const { outcome, retryable } = error.failure;
  return outcome === 'not_started' && retryable;
}

/** JSON first, because it becomes a value. */
function acceptOf({ accept = [] }: Operation): string {
  const types = accept.filter(isHeaderValue);
  const ordered = [...types.filter(isJsonMediaType), ...types.filter((type) => !isJsonMediaType(type))];
  const named = [...new Set(ordered)].filter((type) => type !== '*/*');
  return [...(named.length === 0 ? ['application/json'] : named), '*/*;q=0.1'].join(', ');
}
