import { setTimeout as sleep } from 'node:timers/promises';
import { Endpoint } from './endpoint.mjs';
import { Exchange } from './exchange.mjs';
import { ServerFinder } from './find-server.mjs';
import { idIn, parsed } from './json-rpc.mjs';
import { LineSplitter } from './line-splitter.mjs';
import { ModernEra } from './modern-era.mjs';
import { Output } from './output.mjs';
import { receive } from './receive.mjs';
import { SessionEra } from './session-era.mjs';
import { inBackground, note } from './stderr.mjs';

const MAX_LINE_BYTES = 4 * 1024 * 1024;
const MAX_OPEN_REQUESTS = 500;
/** Requests that are open when stdin ends may finish within this time, as in `patchboard mcp < requests.jsonl`. */
const END_GRACE_MS = 2000;
/** The grace period begins when a server is found, or after this time: a server may be starting when stdin ends. */
const MAX_START_MS = 60_000;

/** Forwards each line of stdin to the server, and what the server returns to stdout. */
export class Bridge {
  #server;
  #endpoint;
  #modern;
  #sessions;
  #output = new Output();
  /**
   * Open requests by id.
   * @type {Map<string | number, Exchange>}
   */
  #open = new Map();
  #isEnding = false;
  /** @type {((value?: unknown) => void) | null} */
  #cutGrace = null;
  #hasFailed = false;

  /** @param {import('./options.mjs').Options} options */
  constructor(options) {
    this.#server = new ServerFinder(options);
    this.#endpoint = new Endpoint(options, this.#server, this.#output);
    this.#modern = new ModernEra(this.#endpoint);
    this.#sessions = new SessionEra(this.#endpoint, this.#output);
  }

  async run() {
    process.stdout.on('error', () => inBackground(this.#end(0)));
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
      process.on(signal, () => inBackground(this.#end(0)));
    // The first request reports the error.
    this.#server.find().catch(() => {});
    const lines = new LineSplitter(MAX_LINE_BYTES);
    for await (const chunk of process.stdin) {
      for (const line of lines.push(chunk)) this.#take(line);
      await this.#endpoint.hasRoom();
    }
    for (const line of lines.end()) this.#take(line);
    await this.#end(END_GRACE_MS);
  }

  /** Ends open requests after the grace period, the session, and the server that this process started. Exits. */
  async #end(graceMs) {
    // A signal ends the grace period.
    this.#cutGrace?.();
    if (this.#isEnding) return;
    this.#isEnding = true;
    const finite = [...this.#open.values()].filter(({ method }) => method !== 'subscriptions/listen');
    if (graceMs > 0 && finite.length > 0)
      await Promise.race([
        Promise.all(finite.map(({ done }) => done)),
        this.#gracePeriod(graceMs),
        new Promise((cut) => (this.#cutGrace = cut)),
      ]);
    for (const { controller } of this.#open.values()) controller.abort();
    await this.#sessions.end();
    await this.#server.stop();
    this.#output.exit(this.#hasFailed && !this.#endpoint.hasReached ? 1 : 0);
  }

  /** Resolves `graceMs` after the server is found. */
  async #gracePeriod(graceMs) {
    const found = this.#server.find().catch(() => {});
    await Promise.race([found, sleep(MAX_START_MS)]);
    await sleep(graceMs);
    if (!this.#endpoint.hasReached) this.#hasFailed = true;
  }

  /** @param {import('./line-splitter.mjs').Line} line */
  #take({ text, overlong }) {
    if (overlong) {
      const message = `the message is longer than ${MAX_LINE_BYTES} bytes`;
      return this.#output.writeError(idIn(overlong), { code: -32600, message });
    }
    if (text.trim() === '') return;
    const message = parsed(text);
    if (typeof message !== 'object' || message === null)
      return this.#output.writeError(null, { code: -32700, message: 'the line is not a JSON-RPC message' });
    const isCancel = message.method === 'notifications/cancelled';
    const cancelled = isCancel ? this.#open.get(message.params?.requestId) : undefined;
    if (cancelled !== undefined) cancelled.isCancelled = true;
    // In the modern era, closing the exchange cancels the request.
    if (cancelled?.isModern) return cancelled.controller.abort();
    if (isCancel && !this.#sessions.isOpen) return;
    inBackground(this.#forward(new Exchange(text, message)));
  }

  async #forward(exchange) {
    const { ids } = exchange;
    if (ids.length > 0 && this.#open.size >= MAX_OPEN_REQUESTS) {
      const data = { code: 'too_many_requests', outcome: 'not_started' };
      const problem = `${MAX_OPEN_REQUESTS} requests are open; wait until some have ended`;
      for (const id of ids) this.#output.writeError(id, { code: -32603, message: problem, data });
      return;
    }
    for (const id of ids) this.#open.set(id, exchange);
    exchange.done = this.#exchange(exchange).catch((error) => this.#fail(exchange, error));
    await exchange.done;
    for (const id of ids) if (this.#open.get(id) === exchange) this.#open.delete(id);
  }

  /** Sends one message and writes what the server returns. */
  async #exchange(exchange) {
    const era = exchange.isModern ? this.#modern : this.#sessions;
    const work = async () => {
      if (exchange.method === 'initialize') await this.#sessions.end();
      const response = await era.send(exchange);
      if (response !== null)
        await receive(exchange, response, this.#output, (result) => this.#learn(exchange, response, result));
    };
    await (exchange.isModern ? work() : this.#sessions.inOrder(exchange, work));
  }

  /** Keeps what later requests need: the headers of tools, and the session. */
  #learn(exchange, response, result) {
    if (exchange.method === 'tools/list') this.#modern.learn(result?.tools);
    this.#sessions.learn(exchange, response, result);
  }

  #fail({ unanswered, controller, method, isCancelled }, error) {
    // A cancelled request gets no response.
    if (controller.signal.aborted || isCancelled) return;
    this.#hasFailed = true;
    const data = error.data ?? { code: 'bridge_failed', outcome: 'unknown' };
    if (unanswered.size === 0) note(`${method ?? 'a response'} was not sent: ${error.message}`);
    for (const id of unanswered) this.#output.writeError(id, { code: -32603, message: error.message, data });
  }
}
