import type {
  McpConnection,
  McpConnectionListener,
  McpConnectionStatus,
  McpRequest,
  McpResponse,
  McpToolList,
} from '../../../src/sources/mcp/mcp-connection.ts';

/** How a scripted server handles one request. A function that throws rejects the request. */
export type Step = (request: McpRequest) => McpResponse | Promise<McpResponse>;

/** A connection without a network: each request takes the next step of the script. */
export class ScriptedConnection implements McpConnection {
  era: McpConnection['era'] = 'modern';
  isOnline = true;
  refreshes = 0;
  readonly requests: McpRequest[] = [];
  readonly #steps: Step[];
  #listener: McpConnectionListener | null = null;

  constructor(...steps: Step[]) {
    this.#steps = steps;
  }

  start(listener: McpConnectionListener): void {
    this.#listener = listener;
  }

  async request(request: McpRequest): Promise<McpResponse> {
    this.requests.push(request);
    if (this.isOnline) request.onSend?.();
    const step = this.#steps.shift();
    if (step === undefined) throw new Error(`no step is left for ${request.method}`);
    return await step(request);
  }

  lists(tools: McpToolList['tools'], omitted = 0, instance: string | null = null): void {
    this.#listener?.toolsListed({
      tools,
      omitted,
      isComplete: true,
      server: null,
      protocolVersion: '2026-07-28',
      instance,
    });
  }

  changesState(): void {
    this.#listener?.stateChanged();
  }

  refreshTools(): void {
    this.refreshes += 1;
  }

  status(): McpConnectionStatus {
    return {
      state: this.isOnline ? 'connected' : 'disconnected',
      protocol: '2026-07-28',
      server: null,
      address: 'https://example.org',
      lastError: null,
      connectedAt: null,
      nextAttemptAt: null,
    };
  }

  async restart(): Promise<void> {}

  async close(): Promise<void> {}
}

export function responds(result: Readonly<Record<string, unknown>>): Step {
  return () => ({ kind: 'result', result });
}

export function respondsError(code: number, message: string, data?: unknown): Step {
  return () => ({ kind: 'error', code, message, data });
}

export function rejects(error: Error): Step {
  return () => {
    throw error;
  };
}

/** Waits until the signal is aborted, and rejects with its reason. */
export const hangs: Step = ({ signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
