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

  export interface Helpers {
    readonly job: { readonly id: string };
    query(sql: string, values: readonly unknown[]): Promise<unknown>;
  }

  export type Task = (payload: unknown, helpers: Helpers) => Promise<void>;

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
    readonly taskList: Readonly<Record<string, Task>>;
  }): Promise<Runner>;
}

declare module 'pg-boss' {
  export class PgBoss {
    constructor(options: {
      readonly connectionString: string;
      readonly max: number;
      readonly schedule: boolean;
    });
    on(event: 'error', listener: (error: Error) => void): void;
    start(): Promise<unknown>;
    createQueue(name: string): Promise<void>;
    send(name: string, data: object): Promise<string | null>;
    fetch(name: string, options: { readonly batchSize: number }): Promise<{ readonly id: string }[]>;
    complete(name: string, ids: string[], data: object): Promise<unknown>;
    stop(options: { readonly graceful: boolean }): Promise<void>;
  }
}

declare module '@dbos-inc/dbos-sdk' {
  interface Dbos {
    registerWorkflow<A extends unknown[], R>(
      workflow: (...args: A) => Promise<R>,
      config: { readonly name: string },
    ): (...args: A) => Promise<R>;
    runStep<R>(step: () => Promise<R>, config: { readonly name: string }): Promise<R>;
    setConfig(config: Readonly<Record<string, string | number>>): void;
    launch(): Promise<void>;
    shutdown(): Promise<void>;
  }

  export const DBOS: Dbos;
}

declare module '@restatedev/restate-sdk' {
  import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

  export interface Context {
    run<R>(name: string, step: () => R): Promise<R>;
  }

  interface Service {
    readonly name: string;
  }

  export function service(definition: {
    readonly name: string;
    readonly handlers: Readonly<Record<string, (context: Context, args: unknown) => Promise<unknown>>>;
  }): Service;

  export function createEndpointHandler(options: {
    readonly services: readonly Service[];
    readonly logger: () => void;
  }): (request: Http2ServerRequest, response: Http2ServerResponse) => void;
}

declare module '@modelcontextprotocol/node' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export function toNodeHandler(handler: {
    fetch(request: Request): Promise<Response>;
  }): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}
