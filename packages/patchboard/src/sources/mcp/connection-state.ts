import type { UpstreamStateName } from '@patchboard/wire';
import { messageOf } from '../../core/failures.ts';
import type { McpConnectionListener, McpConnectionStatus, McpToolList } from './mcp-connection.ts';
import type { McpSession } from './mcp-session.ts';
import type { McpUpstreamSettings } from './mcp-upstream-settings.ts';
import type { McpConnectionParts } from './session-transport.ts';

/** The state of a connection as operators see it, and the calls of the listener. Texts are masked. */
export class ConnectionState {
  listener: McpConnectionListener | null = null;
  era: 'modern' | 'legacy' | null = null;
  nextAttemptAt: number | null = null;
  readonly #settings: McpUpstreamSettings;
  readonly #parts: McpConnectionParts;
  #state: UpstreamStateName = 'connecting';
  #protocol: string | null = null;
  #server: McpConnectionStatus['server'] = null;
  #lastError: McpConnectionStatus['lastError'] = null;
  #connectedAt: number | null = null;
  #instance: string | null = null;

  constructor(settings: McpUpstreamSettings, parts: McpConnectionParts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  get name(): UpstreamStateName {
    return this.#state;
  }

  get lastError(): string {
    return this.#lastError?.message ?? 'no attempt to connect has ended yet';
  }

  status(): McpConnectionStatus {
    const { transport } = this.#settings;
    return {
      state: this.#state,
      protocol: this.#protocol,
      server: this.#server,
      address: addressOf(transport),
      lastError: this.#lastError,
      connectedAt: this.#connectedAt,
      nextAttemptAt: this.nextAttemptAt,
      ...(transport.kind === 'stdio' ? { isSandboxed: transport.sandbox !== null } : {}),
    };
  }

  connecting(): void {
    this.#lastError = null;
    this.#become('connecting');
  }

  connected(session: McpSession): void {
    this.era = session.era;
    this.#protocol = session.protocolVersion;
    this.#server = this.#maskedServer(session);
    this.#instance = session.instance;
    this.#lastError = null;
    this.#connectedAt = this.#parts.clock.now();
    this.#become('connected');
  }

  disconnected(error: unknown): void {
    this.report(error);
    this.#become('disconnected');
  }

  failed(why: string): void {
    this.report(new Error(why));
    this.#become('failed');
  }

  closed(): void {
    this.#become('disconnected');
  }

  report(error: unknown): void {
    const message = this.#parts.mask(messageOf(error));
    this.#lastError = { message, at: this.#parts.clock.now() };
  }

  listed(list: Pick<McpToolList, 'tools' | 'omitted' | 'isComplete'>): void {
    const { tools, omitted, isComplete } = list;
    this.listener?.toolsListed({
      tools,
      omitted,
      isComplete,
      server: this.#server,
      protocolVersion: this.#protocol ?? '',
      instance: this.#instance,
    });
  }

  #maskedServer({ server }: McpSession): McpConnectionStatus['server'] {
    const { mask } = this.#parts;
    return server === null ? null : { name: mask(server.name), version: mask(server.version) };
  }

  #become(state: UpstreamStateName): void {
    if (state !== 'connected') this.#connectedAt = null;
    if (state === this.#state) return;
    this.#state = state;
    this.listener?.stateChanged();
  }
}

/** Without path, query, user and arguments, which may contain secrets. */
function addressOf(transport: McpUpstreamSettings['transport']): string {
  return transport.kind === 'http' ? new URL(transport.url).origin : transport.command;
}
