import type {
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
import { lentSpec, type LentTool } from './lent-tool.ts';
import type { Settings } from '../http/options.ts';
import { SeenIds } from './seen-ids.ts';
import { stoppable } from '../http/stoppable.ts';
import { decodeFrame, resumingFrames } from '../http/stream.ts';

/** One tool this client lends. */
export interface ProvidedTool extends LentTool {
  /** JSON Schema of the arguments. */
  readonly schema: JsonSchema;
}

export type Submission =
  | { readonly status: 'SUCCEEDED'; readonly result: unknown }
  | { readonly status: 'FAILED'; readonly error: string | Partial<CallErrorView> };

/** Name the attempt, and a worker that was overtaken cannot speak for its successor. */
export interface AttemptOptions extends RequestOptions {
  readonly attemptToken?: string;
}

export interface Provider {
  readonly clientId: string;
  /** Adds or replaces. Refusals come tool by tool in `rejected`; they are not thrown. */
  register(tools: readonly ProvidedTool[], options?: RequestOptions): Promise<RegisterResponse>;
  /** Takes one tool back, or all of them. One that is gone already is no error. */
  unregister(name?: string, options?: RequestOptions): Promise<void>;
  /**
   * What this client is asked to run, each attempt once, over as many connections as it takes. A new iterator
   * starts with everything that is still unanswered.
   */
  requests(options?: RequestOptions): AsyncIterableIterator<ToolRequest>;
  /** Work has begun: the call is RUNNING. */
  ack(toolCallId: string, options?: AttemptOptions): Promise<void>;
  /** Shown to whoever watches; sent once, never again. */
  progress(toolCallId: string, data: unknown, options?: AttemptOptions): Promise<void>;
  /** The result. Repeated after a lost connection: the server answers the same result the same way. */
  submit(toolCallId: string, submission: Submission, options?: AttemptOptions): Promise<SubmitResponse>;
}

export function provider(settings: Settings, clientId: string): Provider {
  const headers = { 'x-client-id': clientId };
  const client = `/internal/clients/${encodeURIComponent(clientId)}`;

  function send<T>(what: HttpRequest, decode: Decoder<T>, options: RequestOptions): Promise<T> {
    return request(settings, { ...what, headers }, decode, boundsOf(options));
  }
  function tell(id: string, verb: string, body: object, repeat: HttpRequest['repeat']): HttpRequest {
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
        // Gone is what was asked for; an earlier try, whose answer was lost, may have done it.
        if (!(error instanceof PatchboardError) || error.code !== 'tool_not_found') throw error;
      }
    },
    requests: (options = {}) =>
      stoppable(options.signal, (bounds) => incoming(settings, `${client}/requests`, headers, bounds)),
    async ack(id, options = {}) {
      await send(tell(id, 'ack', tokenOf(options), 'safe'), anything, options);
    },
    async progress(id, data, options = {}) {
      await send(tell(id, 'progress', { data, ...tokenOf(options) }, 'unsafe'), anything, options);
    },
    submit(id, submission, options = {}) {
      return send(
        tell(id, 'submit', { ...submission, ...tokenOf(options) }, 'safe'),
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
    // After a reconnect the server sends again what is unanswered; here it is being worked on already.
    if (seen.add(toolRequest.attempt_token)) yield toolRequest;
  }
}

function tokenOf(options: AttemptOptions): { readonly attempt_token?: string } {
  return options.attemptToken === undefined ? {} : { attempt_token: options.attemptToken };
}

function toSpec(tool: ProvidedTool): ToolSpec {
  return { ...lentSpec(tool), schema: tool.schema };
}
