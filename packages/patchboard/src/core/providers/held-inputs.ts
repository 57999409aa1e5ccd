import { failure, ToolFailure } from '../failures.ts';
import { reason, type JsonSchema } from '@patchboard/wire';
import {
  responseOf,
  type InputRequest,
  type InputResponse,
  type InputRound,
  type LibrarySchema,
} from '../call/input.ts';
import type { InputRequests } from '../call/input-requests.ts';
import type { LiveCall } from '../call/live-call.ts';
import type { ServerTool } from '../tools/server-tool.ts';

/** The input requests for which a running attempt of this process waits. */
export class HeldInputs {
  readonly #requests: Pick<InputRequests, 'record'>;
  readonly #waiting: Map<LiveCall, (round: InputRound) => void> = new Map();
  /** The last request of each call. A call asks for one thing at a time. */
  readonly #last: WeakMap<LiveCall, Promise<unknown>> = new WeakMap();

  constructor(requests: Pick<InputRequests, 'record'>) {
    this.#requests = requests;
  }

  /** Resolves with the content. Rejects with `ToolFailure` if there is none. */
  async request(
    live: LiveCall,
    { schema, ...rest }: InputRequest<JsonSchema | LibrarySchema>,
    readSchema: ServerTool['readSchema'] = onlyJsonSchema,
  ): Promise<unknown> {
    if (schema === undefined) return await this.#inTurn(live, rest);
    const { json, parse } = readSchema(schema);
    return await parse(await this.#inTurn(live, { ...rest, schema: json }));
  }

  #inTurn(live: LiveCall, request: InputRequest): Promise<unknown> {
    const previous = this.#last.get(live) ?? Promise.resolve();
    const asked = previous.then(
      () => this.#ask(live, request),
      () => this.#ask(live, request),
    );
    this.#last.set(live, asked);
    return asked;
  }

  /** Whether an attempt of this process waits for a response. After a restart none does. */
  awaits(live: LiveCall): boolean {
    return this.#waiting.has(live);
  }

  /** The caller has responded. */
  given(live: LiveCall, round: InputRound): void {
    this.#waiting.get(live)?.(round);
  }

  async #ask(live: LiveCall, request: InputRequest): Promise<unknown> {
    // The response may come as soon as the request is durable.
    const given = this.#response(live);
    try {
      const asked = { requests: { input: request }, held: true, isRepeated: true };
      if ((await this.#requests.record(live, asked)) === null) throw new ToolFailure(ended(live));
      const { action, content } = await given;
      if (action === 'accept') return content;
      throw new ToolFailure(failure('input_declined'));
    } finally {
      this.#waiting.delete(live);
    }
  }

  #response(live: LiveCall): Promise<InputResponse> {
    const { signal } = live.stop;
    const response = new Promise<InputResponse>((resolve, reject) => {
      const stop = (): void => reject(new ToolFailure(ended(live)));
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.set(live, ({ response: stored }) => {
        signal.removeEventListener('abort', stop);
        if (stored !== null) resolve(responseOf(stored));
      });
    });
    // If the request is not recorded, it is not awaited.
    response.catch(() => {});
    return response;
  }
}

/** For tools that have no reader: the schema is compiled as a JSON Schema, which reports what is wrong with it. */
const onlyJsonSchema: NonNullable<ServerTool['readSchema']> = (schema) => ({
  json: schema as JsonSchema,
  parse: (content) => content,
});

function ended({ call }: LiveCall): ReturnType<typeof failure> {
  return failure('conflict', reason('call_over', { state: call.state.name }));
}
