import { visibleLine } from '../../core/tools/tool-names.ts';

declare module '../../core/call/call-origin.ts' {
  interface CallOrigin {
    /** The MCP client that made the call, as it describes itself. Unverified. */
    readonly mcpClient?: McpClient;
  }
}

const NAME_CHARACTERS = 200;
const VERSION_CHARACTERS = 100;

/** Name and version that an MCP client gives itself. */
export interface McpClient {
  readonly name: string;
  /** Empty if the client names none. */
  readonly version: string;
}

/**
 * Reads the `clientInfo` of an MCP client: without hidden characters and line breaks, cut to the limits. Undefined if it
 * has no name.
 */
export function mcpClientOf(clientInfo: unknown): McpClient | undefined {
  const { name, version } = (clientInfo ?? {}) as { readonly name?: unknown; readonly version?: unknown };
  const shown = lineOf(name, NAME_CHARACTERS);
  return shown === '' ? undefined : { name: shown, version: lineOf(version, VERSION_CHARACTERS) };
}

/** Words of visible ASCII characters, with single spaces. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

function lineOf(text: unknown, length: number): string {
  if (typeof text === 'string' && text.length <= length && PLAIN.test(text)) return text;
  return typeof text === 'string' ? copyOf(visibleLine(text.slice(0, length))) : '';
}

/** A slice of a long text keeps all of it in memory. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
