import {
  Client,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  type ClientCapabilities,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { withTimeLimit } from '../../core/time-limit.ts';
import { META } from '../../protocols/mcp/revisions.ts';
import { VERSION } from '../../version.ts';
import { ConnectionLost, NotStarted, type McpRequest, type McpResponse } from './mcp-connection.ts';
import type { McpUpstreamSettings } from './mcp-upstream-settings.ts';
import { connectError } from './network-error.ts';
import { respondToServer } from './server-requests.ts';
import {
  FINISH_MS,
  httpSession,
  stdioSession,
  type McpConnectionParts,
  type SessionTransport,
} from './session-transport.ts';
import { InterceptingTransport } from './intercepting-transport.ts';

const CLIENT_INFO = { name: 'patchboard', version: VERSION };
/** How long the server may take to respond to the first message: its program may have to be downloaded first. */
const HANDSHAKE_MS = 60_000;
const PROBE_MS = 30_000;

export interface SessionOptions {
  readonly settings: McpUpstreamSettings;
  readonly parts: McpConnectionParts;
  /** Skips the request by which the era is found. */
  readonly isLegacy: boolean;
  /** Aborts the attempt to connect. */
  readonly signal: AbortSignal;
  /** Called once, if the session ends by itself or the server is gone. */
  readonly onLost: (session: McpSession, error: Error) => void;
}

/** One live connection to a server: a process, or a session over HTTP. It does not connect again. */
export class McpSession {
  readonly #options: SessionOptions;
  readonly #client: Client;
  readonly #interceptor: InterceptingTransport;
  readonly #transport: SessionTransport;
  #instance: string | null = null;
  #isOpen = false;
  #loss: Error | null = null;

  private constructor(options: SessionOptions) {
    const { settings, parts } = options;
    this.#options = options;
    const owners = {
      owner: () => this.#interceptor.scope.getStore(),
      rejectResponse: (id: string, error: Error) => this.#interceptor.rejectResponse(id, error),
      onLost: (error: Error) => this.#lose(error),
    };
    this.#transport =
      settings.transport.kind === 'http'
        ? httpSession(settings.transport, parts, owners)
        : stdioSession(settings.name, settings.transport, parts, owners);
    this.#interceptor = new InterceptingTransport(this.#transport.transport, {
      sendFailure: (error, id) => this.#transport.sendFailure(error, id),
      serverRequest: (method, params) =>
        this.era === 'modern'
          ? null
          : respondToServer(settings, this.#interceptor.pendingRequests, method, params),
      lossOf: () => this.#transport.lossOf(),
      observeResult: (result) => this.#observe(result),
    });
    this.#client = new Client(CLIENT_INFO, {
      versionNegotiation: { mode: modeOf(settings.protocol), probe: { timeoutMs: PROBE_MS } },
      capabilities: declaredCapabilities(settings),
    });
    this.#client.onclose = () => this.#lose(this.#transport.lossOf());
  }

  /** Rejects with `NotStarted` if the server cannot be reached or does not complete the handshake. */
  static async open(options: SessionOptions): Promise<McpSession> {
    const session = new McpSession(options);
    const onAbort = (): void =>
      void session.#interceptor.close().catch((error: unknown) => session.#lose(error as Error));
    options.signal.addEventListener('abort', onAbort, { once: true });
    try {
      options.signal.throwIfAborted();
      await session.#client.connect(session.#interceptor, {
        timeout: HANDSHAKE_MS,
        ...(options.isLegacy ? { prior: { kind: 'legacy' } } : {}),
      });
      // A request that the server sends before its stream is open would be lost.
      if (session.mayReceiveRequests) await session.#transport.streamSettled();
      if (session.#loss !== null) throw session.#loss;
      session.#isOpen = true;
      return session;
    } catch (error) {
      // Closing ends the process, which would be taken for the reason.
      const loss = session.#loss;
      await session.#interceptor.close();
      throw connectError(error, loss);
    } finally {
      options.signal.removeEventListener('abort', onAbort);
    }
  }

  get era(): 'modern' | 'legacy' | null {
    return this.#client.getProtocolEra() ?? null;
  }

  /** Whether the server may send requests of its own. They name no request of ours. */
  get mayReceiveRequests(): boolean {
    return this.era === 'legacy' && Object.keys(declaredCapabilities(this.#options.settings)).length > 0;
  }

  get client(): Client {
    return this.#client;
  }

  get protocolVersion(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? '';
  }

  get server(): { readonly name: string; readonly version: string } | null {
    const server = this.#client.getServerVersion();
    return server === undefined ? null : { name: server.name, version: server.version };
  }

  /** The id by which a Patchboard declares itself; null: the server is none, or an older one. */
  get instance(): string | null {
    return this.#instance;
  }

  request(request: McpRequest): Promise<McpResponse> {
    if (this.#loss !== null)
      return Promise.reject(
        new NotStarted(`the connection was lost: ${this.#loss.message}`, { mayRetry: true }),
      );
    const envelope = this.#envelope(request.capabilities);
    const meta = request.params['_meta'] as object | undefined;
    const isModern = this.era === 'modern';
    request.onSend?.();
    return this.#interceptor.request({
      ...request,
      params: isModern ? { ...request.params, _meta: { ...meta, ...envelope } } : request.params,
      cancel: isModern ? (this.#transport.hasStreams ? 'close' : { _meta: envelope }) : {},
    });
  }

  /** Rejects pending requests and ends the process or the HTTP session. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#interceptor.rejectAll(new ConnectionLost('the connection was closed before the response arrived'));
    if (this.#loss === null) await this.#finish();
    await this.#client.close();
    await this.#interceptor.close();
  }

  /** Over HTTP the end of the session could overtake a cancellation, which is another request: it must find the session. */
  async #finish(): Promise<void> {
    const { clock } = this.#options.parts;
    if (this.#transport.hasStreams)
      await withTimeLimit(clock, FINISH_MS, this.#interceptor.cancelsSettled(), () => {});
    await this.#transport.finish();
  }

  /** Closes the session. Over HTTP each request has a stream of its own, which may still bring its response: they settle first. */
  async retire(): Promise<void> {
    if (this.#transport.hasStreams)
      await Promise.allSettled(this.#interceptor.pendingRequests.map(({ response }) => response));
    await this.close();
  }

  #envelope(capabilities: McpRequest['capabilities']): Record<string, unknown> {
    return {
      [PROTOCOL_VERSION_META_KEY]: this.protocolVersion,
      [CLIENT_INFO_META_KEY]: CLIENT_INFO,
      [CLIENT_CAPABILITIES_META_KEY]: capabilities,
    };
  }

  #observe(result: Readonly<Record<string, unknown>>): void {
    const meta = result['_meta'] as Readonly<Record<string, unknown>> | undefined;
    const instance = meta?.[META.instance];
    if (typeof instance === 'string') this.#instance = instance;
  }

  #lose(error: Error): void {
    this.#loss ??= error;
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#options.onLost(this, error);
  }
}

function modeOf(protocol: McpUpstreamSettings['protocol']): VersionNegotiationMode {
  return protocol === 'auto' || protocol === 'legacy' ? protocol : { pin: protocol };
}

/** What older servers learn once, at `initialize`. Roots are never declared. */
function declaredCapabilities(
  settings: Pick<McpUpstreamSettings, 'inputRequests' | 'sampling'>,
): ClientCapabilities {
  return {
    ...(settings.inputRequests ? { elicitation: { form: {}, url: {} } } : {}),
    ...(settings.sampling ? { sampling: {} } : {}),
  };
}
