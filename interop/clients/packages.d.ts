/** Minimal types of the tested packages, so that type checking does not need them installed. */
declare module '@modelcontextprotocol/client' {
  export type VersionNegotiationMode = 'legacy' | 'auto' | { readonly pin: string };

  export interface Transport {
    close(): Promise<void>;
  }

  export class StreamableHTTPClientTransport implements Transport {
    constructor(
      url: URL,
      options?: {
        readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
        readonly requestInit?: RequestInit;
      },
    );
    close(): Promise<void>;
  }

  export interface RequestOptions {
    readonly signal?: AbortSignal;
    readonly onprogress?: (progress: { readonly progress: number; readonly total?: number }) => void;
  }

  export interface ElicitRequest {
    readonly params: { readonly mode?: string; readonly message: string; readonly url?: string };
  }

  export class Client {
    constructor(
      info: { readonly name: string; readonly version: string },
      options?: {
        readonly capabilities?: object;
        readonly versionNegotiation?: { readonly mode: VersionNegotiationMode };
      },
    );
    setRequestHandler(
      method: 'elicitation/create',
      handler: (request: ElicitRequest) => Promise<object>,
    ): void;
    setNotificationHandler(
      method: 'notifications/resources/updated' | 'notifications/tools/list_changed',
      handler: (notification: { readonly params: { readonly uri: string } }) => void,
    ): void;
    subscribeResource(params: { readonly uri: string }): Promise<object>;
    connect(transport: Transport): Promise<void>;
    listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
    callTool(
      params: { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> },
      options?: RequestOptions,
    ): Promise<{ readonly content?: unknown; readonly isError?: boolean }>;
    close(): Promise<void>;
  }
}

declare module '@modelcontextprotocol/client/stdio' {
  import type { Transport } from '@modelcontextprotocol/client';

  export class StdioClientTransport implements Transport {
    constructor(options: {
      readonly command: string;
      readonly args: string[];
      readonly env?: Record<string, string>;
      readonly stderr?: 'ignore' | 'inherit';
    });
    close(): Promise<void>;
  }
}

declare module '@modelcontextprotocol/sdk/client/index.js' {
  import type { ElicitRequest, RequestOptions, Transport } from '@modelcontextprotocol/client';

  export class Client {
    constructor(
      info: { readonly name: string; readonly version: string },
      options?: { readonly capabilities?: object },
    );
    setRequestHandler(schema: object, handler: (request: ElicitRequest) => Promise<object>): void;
    connect(transport: Transport): Promise<void>;
    listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
    callTool(
      params: { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> },
      resultSchema?: undefined,
      options?: RequestOptions,
    ): Promise<{ readonly content?: unknown; readonly isError?: boolean }>;
    close(): Promise<void>;
  }
}

declare module '@modelcontextprotocol/sdk/client/streamableHttp.js' {
  export { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
}

declare module '@modelcontextprotocol/sdk/client/stdio.js' {
  export { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
}

declare module '@modelcontextprotocol/sdk/types.js' {
  export const ElicitRequestSchema: object;
}

declare module '@modelcontextprotocol/ext-tasks/client' {
  import type { Client } from '@modelcontextprotocol/client';

  export type RawClientDispatch = (
    request: unknown,
    options?: { readonly signal?: AbortSignal },
  ) => Promise<
    | { readonly kind: 'result'; readonly result: unknown }
    | { readonly kind: 'error'; readonly error: unknown }
  >;

  export interface TaskSession {
    callTool(
      name: string,
      args: Readonly<Record<string, unknown>>,
    ): Promise<{ readonly kind: 'immediate' | 'task'; settle(): Promise<{ readonly outcome: unknown }> }>;
    close(): Promise<void>;
  }

  export function createTaskSessionFromClient(
    client: Client,
    options: {
      readonly endpointId: string;
      readonly rawDispatch: RawClientDispatch;
      readonly v2RequestFraming: {
        readonly protocolVersion: string;
        readonly clientInfo: object;
        readonly clientCapabilities: object;
      };
    },
  ): TaskSession;
  export function resultFromTaskOutcome(outcome: unknown): unknown;
}

declare module '@ai-sdk/mcp' {
  export function createMCPClient(options: {
    readonly transport: { readonly type: 'http'; readonly url: string };
  }): Promise<{
    tools(): Promise<
      Readonly<
        Record<
          string,
          {
            execute(
              args: object,
              options: object,
            ): Promise<{ readonly content?: unknown; readonly isError?: boolean }>;
          }
        >
      >
    >;
    close(): Promise<void>;
  }>;
}

declare module '@openai/agents' {
  export class MCPServerStreamableHttp {
    constructor(options: { readonly url: string; readonly name: string });
    connect(): Promise<void>;
    listTools(): Promise<readonly { readonly name: string }[]>;
    callTool(name: string, args: Readonly<Record<string, unknown>>): Promise<readonly object[]>;
    close(): Promise<void>;
  }
}

declare module '@mastra/mcp' {
  export class MCPClient {
    constructor(options: { readonly servers: Readonly<Record<string, { readonly url: URL }>> });
    listTools(): Promise<
      Readonly<
        Record<
          string,
          {
            execute(
              args: object,
              context: object,
            ): Promise<{ readonly content?: unknown; readonly isError?: boolean }>;
          }
        >
      >
    >;
    disconnect(): Promise<void>;
  }
}

declare module '@langchain/mcp-adapters' {
  export class MultiServerMCPClient {
    constructor(options: {
      readonly mcpServers: Readonly<Record<string, { readonly transport: 'http'; readonly url: string }>>;
    });
    getTools(): Promise<readonly { readonly name: string; invoke(args: object): Promise<unknown> }[]>;
    close(): Promise<void>;
  }
}
