import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import type { Clock, Log } from '../../core/ports.ts';
import { withTimeLimit } from '../../core/time-limit.ts';
import { childEnvironment } from './child-environment.ts';
import { httpExchange, type AccessTokens } from './http-exchange.ts';
import { httpFailure } from './http-failure.ts';
import {
  ConnectionLost,
  isUnknownSession,
  NotStarted,
  ResponseTooLarge,
  type McpResponse,
} from './mcp-connection.ts';
import type { HttpTransportSettings, StdioTransportSettings } from './mcp-upstream-settings.ts';
import type { LongLine } from './line-splitter.ts';
import { connectionErrorOf, textOf } from './network-error.ts';
import type { PendingRequest } from './raw-request.ts';
import { stderrLog } from './stderr-log.ts';
import { StdioTransport, type StdioCommand } from './stdio-transport.ts';

/** How long the end of a session may wait for its server. */
export const FINISH_MS = 1_000;
const STREAM_MS = 1_000;

/** What a connection needs of its surroundings. */
export interface McpConnectionParts {
  readonly clock: Clock;
  /** For jitter: at least 0, below 1. */
  readonly random: () => number;
  readonly log: Log;
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Null: the headers contain all credentials. */
  readonly accessTokens: AccessTokens | null;
  /** Replaces secret values. */
  readonly mask: (text: string) => string;
  /** The environment of this process. A child process gets a few variables of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The id that this server declares to its own MCP clients: an upstream that declares it is refused. */
  readonly instanceId: string;
  /** Returns the command that runs the given one in a sandbox. */
  readonly wrapCommand?: WrapCommand;
}

type WrapCommand = (
  command: string,
  args: readonly string[],
  cwd: string | null,
) => { readonly command: string; readonly args: readonly string[] };

/** The transport of one session, with what differs between HTTP and processes. */
export interface SessionTransport {
  readonly transport: Transport;
  /** Whether closing the stream of a request cancels it, where the protocol says so. */
  readonly hasStreams: boolean;
  /** Resolves when the stream for requests of the server is open, or cannot be opened, or takes too long. */
  streamSettled(): Promise<void>;
  sendFailure(error: unknown, id: string): Error | McpResponse;
  /** Tells the server that the session ends, as far as the protocol has a message for it. */
  finish(): Promise<void>;
  /** Why the transport closed by itself. */
  lossOf(): ConnectionLost;
}

interface Owners {
  /** The request that the current code runs for. */
  readonly owner: () => PendingRequest | undefined;
  /** Ends the request with this id, whose response cannot be read. */
  readonly rejectResponse: (id: string, error: Error) => void;
  readonly onLost: (error: Error) => void;
}

export function httpSession(
  settings: HttpTransportSettings,
  { fetch, accessTokens, clock }: McpConnectionParts,
  { owner, onLost }: Owners,
): SessionTransport {
  let onStream = (): void => {};
  const hasSettled = new Promise<void>((resolve) => (onStream = resolve));
  const transport = new StreamableHTTPClientTransport(new URL(settings.url), {
    fetch: httpExchange({ fetch, accessTokens, owner, onStream, onLost }),
    requestInit: { headers: settings.headers },
  });
  return {
    transport,
    hasStreams: true,
    streamSettled: () => withTimeLimit(clock, STREAM_MS, hasSettled, () => {}),
    sendFailure: (error, id) => {
      const hasSession = transport.sessionId !== undefined;
      const failure = httpFailure(error, id, hasSession);
      const isUnknown = failure instanceof NotStarted && isUnknownSession(failure.status);
      if (hasSession && isUnknown) onLost(failure);
      return failure;
    },
    finish: () => endSession(transport, clock),
    lossOf: () => new ConnectionLost('the connection was closed'),
  };
}

export function stdioSession(
  upstream: string,
  settings: StdioTransportSettings,
  parts: McpConnectionParts,
  { rejectResponse, onLost }: Owners,
): SessionTransport {
  const { clock, log, mask } = parts;
  const onLongLine = (line: LongLine): void => {
    const error = new ResponseTooLarge('the process wrote a line that exceeds 4 MiB');
    const id = idIn(line);
    if (id === '') onLost(error);
    else rejectResponse(id, error);
  };
  const transport = new StdioTransport(commandOf(settings, parts), {
    clock,
    onStderr: stderrLog({ upstream, log, clock, mask }),
    onLongLine,
  });
  return {
    transport,
    hasStreams: false,
    streamSettled: () => Promise.resolve(),
    sendFailure: (error) =>
      connectionErrorOf(error) ?? new ConnectionLost(`the request could not be written: ${textOf(error)}`),
    finish: () => Promise.resolve(),
    lossOf: () => new ConnectionLost(`the process ended (${transport.exit ?? 'closed'})`),
  };
}

/** Waits for a second at most. A server that is not reached forgets the session by itself. */
async function endSession(transport: StreamableHTTPClientTransport, clock: Clock): Promise<void> {
  if (transport.sessionId === undefined) return;
  const told = transport.terminateSession().catch(() => {});
  await withTimeLimit(clock, FINISH_MS, told, () => {});
}

function commandOf(settings: StdioTransportSettings, parts: McpConnectionParts): StdioCommand {
  const { command, args, cwd, env } = settings;
  const line = parts.wrapCommand?.(command, args, cwd) ?? { command, args };
  return { ...line, cwd, env: childEnvironment(parts.environment, env) };
}

/** The id of a response whose text is known in part: servers write it first or last. Empty if it is not known. */
function idIn({ head, tail }: LongLine): string {
  const first = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"(pb-\d+)"/.exec(head);
  const last = /"id"\s*:\s*"(pb-\d+)"\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return first?.[1] ?? last?.[1] ?? '';
}
