/** Minimal types of the compared packages, so that type checking does not need them installed. */
declare module 'bullmq' {
  export interface Connection {
    readonly path: string;
    readonly maxRetriesPerRequest: null;
  }

  export interface Job {
    readonly id?: string;
    readonly data: unknown;
  }

  export class Queue {
    constructor(name: string, options: { readonly connection: Connection });
    add(name: string, data: unknown): Promise<Job>;
    close(): Promise<void>;
  }

  export class Worker {
    constructor(
      name: string,
      work: (job: Job) => Promise<unknown>,
      options: { readonly connection: Connection; readonly concurrency: number },
    );
    on(event: 'completed', listener: (job: Job) => void): void;
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  }
}

declare module 'graphile-worker' {
  export class Logger {
    constructor(factory: () => () => void);
  }

  export interface Runner {
    readonly events: {
      on(
        event: 'job:complete',
        listener: (happened: { readonly job: { readonly id: string } }) => void,
      ): void;
    };
    addJob(task: string, payload: unknown): Promise<{ readonly id: string }>;
    stop(): Promise<void>;
  }

  export function run(options: {
    readonly preset: { readonly worker: Readonly<Record<string, unknown>> };
    readonly noHandleSignals: boolean;
    readonly logger: Logger;
    readonly taskList: Readonly<Record<string, () => Promise<void>>>;
  }): Promise<Runner>;
}

declare module '@modelcontextprotocol/node' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export function toNodeHandler(handler: {
    fetch(request: Request): Promise<Response>;
  }): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}
