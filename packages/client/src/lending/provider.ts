import type {
  AckRequest,
  CallErrorView,
  JsonSchema,
  RegisterResponse,
  SubmitResponse,
  ToolRequest,
  ToolSpec,
} from '@patchboard/wire';
import type { Bounds } from '../http/abort.ts';
import { anything, type Decoder } from '../decode/decode.ts';
import { decodeRegistered, decodeSubmitted, decodeToolRequest } from '../decode/views.ts';
import { PatchboardError } from '../errors.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import { requestInput, type LentInputOptions } from './input-polling.ts';
import type { LentInputRequest } from './input-request.ts';
import { lentSpec, type LentTool } from './lent-tool.ts';
import type { Settings } from '../http/options.ts';
import { SeenIds } from './seen-ids.ts';
import { stoppable } from '../http/stoppable.ts';
import { decodeFrame, resumingFrames } from '../http/stream.ts';

/** A tool that this client registers and runs. */
export interface ProvidedTool extends LentTool {
  /** JSON Schema of the arguments. */
  readonly schema: JsonSchema;
}

export type Submission =
  | { readonly status: 'SUCCEEDED'; readonly result: unknown }
  | { readonly status: 'FAILED'; readonly error: string | Partial<CallErrorView> };

/** The attempt token is a fencing token: the server refuses results of a worker that was replaced by a newer attempt. */
export interface AttemptOptions extends RequestOptions {
  readonly attemptToken?: string;
}

export interface Provider {
  readonly clientId: string;
  /** Adds or replaces tools. Rejected tools are returned in `rejected`, not thrown. */
  register(tools: readonly ProvidedTool[], options?: RequestOptions): Promise<RegisterResponse>;
  /** Removes one tool, or all. Does not throw if the tool does not exist. */
  unregister(name?: string, options?: RequestOptions): Promise<void>;
  /**
   * Yields the requests to this client, each attempt once, reconnecting as needed. A new iterator starts with all
   * requests that have no result yet.
   */
  requests(options?: RequestOptions): AsyncIterableIterator<ToolRequest>;
  /**
   * Reports that work is about to begin: the call becomes RUNNING. Rejects with the code `conflict` if the call has ended, or another
   * program or device of this client runs it: then do not run it.
   */
  ack(toolCallId: string, options?: AttemptOptions): Promise<void>;
  /** Emits a progress event. It is sent once, without retries. */
  progress(toolCallId: string, data: unknown, options?: AttemptOptions): Promise<void>;
  /**
   * Asks the caller of the call for input, and resolves with the content that fits `schema` (null for a `url`). The clock
   * of the call stands still meanwhile. Rejects with `PatchboardError`: `input_declined`, `input_unavailable` if the
   * caller cannot be asked (submit these two codes as the `error` of a FAILED result), `conflict` if the call has ended.
   */
  requestInput(toolCallId: string, request: LentInputRequest, options: LentInputOptions): Promise<unknown>;
  /** Submits the result. Retried after a lost connection, because submitting the same result again is idempotent. */
  submit(toolCallId: string, submission: Submission, options?: AttemptOptions): Promise<SubmitResponse>;
}

export function provider(settings: Settings, clientId: string): Provider {
  const headers = { 'x-client-id': clientId };
  /** Another program may act as the same client. */
  const program = settings.newId();
  const client = `/internal/clients/${encodeURIComponent(clientId)}`;

  function send<T>(what: HttpRequest, decode: Decoder<T>, options: RequestOptions): Promise<T> {
    return request(settings, { ...what, headers }, decode, boundsOf(options));
  }
  function callRequest(id: string, verb: string, body: object, repeat: HttpRequest['repeat']): HttpRequest {
    return { method: 'POST', path: `/internal/tool_calls/${encodeURIComponent(id)}/${verb}`, body, repeat };
  }

  return {
    clientId,
    register(tools, options = {}) {
      const body = { client_id: clientId, tools: tools.map(toSpec) };
      const what: HttpRequest = { method: 'POST', path: '/internal/tools/register', body, repeat: 'safe' };
      return send(what, decodeRegistered, options);
    },
    async unregister(name, options = {}) {
      const path = `${client}/tools${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
      try {
        await send({ method: 'DELETE', path, repeat: 'safe' }, anything, options);
      } catch (error) {
        // The tool is gone as requested, possibly by an earlier attempt whose response was lost.
        if (!(error instanceof PatchboardError) || error.code !== 'tool_not_found') throw error;
      }
    },
    requests: (options = {}) =>
      stoppable(options.signal, (bounds) => incoming(settings, `${client}/requests`, headers, bounds)),
    async ack(id, options = {}) {
      const body: AckRequest = { ...tokenOf(options), program_id: program };
      await send(callRequest(id, 'ack', body, 'safe'), anything, options);
    },
    async progress(id, data, options = {}) {
      await send(callRequest(id, 'progress', { data, ...tokenOf(options) }, 'unsafe'), anything, options);
    },
    requestInput: (id, input, options) => requestInput(settings, { headers, program }, id, input, options),
    submit(id, submission, options = {}) {
      return send(
        callRequest(id, 'submit', { ...submission, ...tokenOf(options) }, 'safe'),
        decodeSubmitted,
        options,
      );
    },
  };
}

async function* incoming(
  settings: Settings,
  path: string,
  headers: Readonly<Record<string, string>>,
  bounds: Bounds,
): AsyncGenerator<ToolRequest, void, undefined> {
  const seen = new SeenIds();
  const source = { path: () => path, headers, after: null };
  for await (const frame of resumingFrames(settings, source, bounds)) {
    if (frame.event !== 'tool_request') continue;
    const toolRequest = decodeFrame(frame, decodeToolRequest);
    // After a reconnect the server repeats open requests that are already being worked on here.
    if (seen.add(toolRequest.attempt_token)) yield toolRequest;
  }
}

function tokenOf(options: AttemptOptions): { readonly attempt_token?: string } {
  return options.attemptToken === undefined ? {} : { attempt_token: options.attemptToken };
}

function toSpec(tool: ProvidedTool): ToolSpec {
  return { ...lentSpec(tool), schema: tool.schema };
}
