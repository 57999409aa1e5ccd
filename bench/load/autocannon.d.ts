/** Minimal types for the load generator, so that type checking does not need the package installed. */
declare module 'autocannon' {
  export interface Client {
    setBody(body: string): void;
  }

  export interface Result {
    readonly duration: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly non2xx: number;
    readonly '2xx': number;
  }

  export interface Options {
    readonly url: string;
    readonly method: 'GET' | 'POST';
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly connections: number;
    readonly duration: number;
    readonly setupClient: (client: Client) => void;
  }

  export default function autocannon(options: Options): Promise<Result>;
}
